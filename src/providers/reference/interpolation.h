#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "providers/reference/elements.h"

// What ops that sample between elements share.
namespace tenon {

// Cubic convolution (Keys) at distance x from a sample.
inline double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

inline double linear_weight(double x) { return std::max(0.0, 1 - std::abs(x)); }

// A weighted sum as an element: integers round to nearest even and saturate.
template <class T>
T sampled(double value) {
  if constexpr (is_float_element<T>) {
    return narrow<T>(value);
  } else {
    if (value != value) return T();
    const double rounded = std::nearbyint(value);
    if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(rounded);
  }
}

// A copy of numbers of any type as doubles.
Result<Tensor> to_doubles(const TensorView& view, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace tenon
