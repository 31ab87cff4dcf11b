#pragma once

#include "ops/infer.h"

namespace tenon {

// Numpy matmul: the last two dims multiply, the others broadcast; a 1-D operand loses its added dim again.
Result<Shape> matmul_shape(Shape a, Shape b);

}  // namespace tenon
