#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "providers/reference/doubles.h"

#include "base/exact_math.h"

namespace tenon {

// Softmax of one row in place, each stage rounded to a float type as if it were computed in it. A row of nothing but
// -infinity becomes zeros.
inline void softmax_row(std::span<double> row, DType precision) {
  double largest = -std::numeric_limits<double>::infinity();
  for (double& x : row) {
    x = round_to(precision, x);
    if (x > largest || std::isnan(x)) largest = x;
  }
  if (std::isinf(largest) && largest < 0) largest = 0.0;
  double sum = 0.0;
  for (double& x : row) {
    x = round_to(precision, exact::exp(round_to(precision, x - largest)));
    sum += x;
  }
  sum = round_to(precision, sum);
  if (sum == 0.0) sum = 1.0;
  for (double& x : row) x = round_to(precision, x / sum);
}

}  // namespace tenon
