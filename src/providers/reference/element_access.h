#pragma once

#include "tensor/tensor.h"

// Single elements whatever their type, for scales, limits and other numbers that come as tensors.
namespace tenon {

// Any real, integer or bool element as a double; strings and complex numbers are 0.
double number_at(const TensorView& view, int64_t index);
// Any integer or bool element; uint64 beyond int64 wraps, floats truncate.
int64_t any_integer_at(const TensorView& view, int64_t index);

// Rounds or truncates to an element of the view's type, as Cast does.
void store_number(const TensorView& view, int64_t index, double value);

}  // namespace tenon
