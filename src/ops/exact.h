#pragma once

#include "ops/op.h"
#include "tensor/dtype.h"

namespace tenon {

// True for ops whose kernels give the same bits on every machine and cannot fail once shapes and types fit: they move
// elements, or compute with operations that IEEE 754 and integer arithmetic define exactly. Only these may run in a
// weight program. (Gather is not one: an index may be out of range.)
bool is_exact_op(OpId op, DType result);

}  // namespace tenon
