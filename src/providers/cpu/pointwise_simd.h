#pragma once

#include "ops/pointwise.h"
#include "providers/provider.h"

namespace tenon {

// Computes `count` elements of one instruction. An operand is a vector of as many elements, or one number where the
// form of the function says so. `out` may be one of the operands.
using PointwiseFunction = void (*)(const float* const* operands, float* out, int64_t count, const float* numbers);

// Which operands of an instruction are one number.
enum class TileForm : uint8_t { Vectors, FirstNumber, SecondNumber };

// Null where an instruction has no such form; every instruction has one for vectors.
PointwiseFunction arithmetic_tile(PointwiseOp op, TileForm form, Isa isa);
// The same for instructions that are functions of one operand.
PointwiseFunction function_tile(PointwiseOp op, Isa isa);

// Float32 rounded to what Float16 or BFloat16 can hold.
PointwiseFunction rounding_tile(DType dtype, Isa isa);
// Functions that are computed one by one, with the C library.
PointwiseFunction scalar_tile(PointwiseOp op, TileForm form);

// Elements of another type as float32, and back. Truth values are bytes.
using LoadFunction = void (*)(const void* from, float* to, int64_t count);
using StoreFunction = void (*)(const float* from, void* to, int64_t count);
LoadFunction load_function(DType dtype, Isa isa);
StoreFunction store_function(DType dtype, Isa isa);
// Float32 past the caches, to places that are aligned to 64 bytes: what is too large for them would only push out the
// rest. Others may read the elements after finish_streams().
StoreFunction stream_function(Isa isa);
void finish_streams();

}  // namespace tenon
