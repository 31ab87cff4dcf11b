#pragma once

#include <optional>

#include "tensor/value.h"

namespace tenon {

// Elements a and b agree when |a - b| <= atol + rtol * |b|. A negative number means the default of the element type.
struct Tolerance {
  double rtol = -1;
  double atol = -1;
  std::optional<double> integer_atol;  // of integers, when rtol and atol are for floating-point numbers alone
};
// What rounding alone explains: a multiple of the distance between neighbouring numbers; 0 for integers and the rest.
Tolerance default_tolerance(DType dtype);

// How far a value is from the one it should be. Sequences, optionals and maps count all their elements together.
struct Comparison {
  bool comparable = true;  // false: kinds, element types, shapes, lengths or keys differ
  int64_t elements = 0;
  int64_t mismatches = 0;
  int64_t first_mismatch = -1;  // the position of an element, counted over the whole value
  int64_t nan_pairs = 0;        // elements that are NaN in both, which agree
  double max_abs = 0;
  double max_rel = 0;      // over elements whose expected value is not 0
  double cosine = 1;       // of the angle between all elements taken as vectors; 1 when both are zero
  double allowed_abs = 0;  // the largest atol that counted
  bool same() const { return comparable && mismatches == 0; }
};

// The largest |x| of all finite floating-point numbers inside.
double largest_magnitude(const Value& value);

// `expected` is the b of the formula.
Comparison compare_values(const Value& actual, const Value& expected, Tolerance tolerance);

}  // namespace tenon
