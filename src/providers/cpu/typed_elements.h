#pragma once

#include "ops/op.h"
#include "providers/provider.h"

namespace tenon {

// Computes `count` elements of an op on elements of the types that a function is for: of integers, truth values and
// doubles, exactly as the reference does. `out` may be one of the operands.
using TypedFunction = void (*)(const void* const* operands, void* out, int64_t count);

// Null where there is none. The type is that of the operands, and of the result where it is not truth values.
TypedFunction typed_arithmetic(OpId op, DType dtype, Isa isa);
TypedFunction typed_comparison(OpId op, DType dtype, Isa isa);
// Remainders with the sign of the dividend (`truncates`) or of the divisor.
TypedFunction typed_remainder(bool truncates, DType dtype, Isa isa);
TypedFunction typed_shift(bool left, DType dtype, Isa isa);
// The second or the third operand, elements of this many bytes, as truth values say.
TypedFunction typed_choice(int64_t element_bytes, Isa isa);
TypedFunction typed_cast(DType from, DType to, Isa isa);

}  // namespace tenon
