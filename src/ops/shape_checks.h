#pragma once

#include "ops/infer.h"

// Checks that rules make of shapes that may be partly unknown: what is not known passes, and binding checks again.
namespace tenon {

// Both are known and not equal.
bool differ(const Dim& a, const Dim& b);
bool differ(const Shape& a, const Shape& b);

// Input i, when it is there and its rank known, must have this shape.
Status expect_shape(InferContext& c, size_t i, const char* what, const Shape& expected);

// How many of the last states an op with a running state keeps; 0: the last one, without an axis for them.
Status check_state_window(int64_t state_window);

}  // namespace tenon
