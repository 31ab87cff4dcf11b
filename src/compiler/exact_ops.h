#pragma once

#include "ops/op.h"

namespace tenon {

// True for ops whose kernels give the same bits on every machine: they move elements, or compute with operations that
// IEEE 754 and integer arithmetic define exactly. Only these may run in a weight program.
bool is_exact_op(OpId op);

}  // namespace tenon
