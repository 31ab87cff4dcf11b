#pragma once

#include <cstddef>

#include "ops/pointwise.h"
#include "providers/provider.h"

namespace tenon {

// One step of a pointwise expression. A step is handed a block of elements in vector registers, changes them and calls
// the next one, so that elements stay in registers from the first step to the last. Its function belongs to an
// instruction set, whose vectors are among its parameters: only functions of the same set can call it.
struct PointwiseStep {
  using Function = void (*)();
  Function function = nullptr;
  // Operands in memory, and where a step stores: of the first element of a tile.
  std::byte* places[2] = {nullptr, nullptr};
  // All bits: the place holds the elements of the tile. 0: it holds one block, the same for all, or one number.
  size_t moves[2] = {0, 0};
  float numbers[PointwiseInstruction::kNumbers] = {0, 0};
};

// Vectors in a block, in elements: no instruction set has more.
inline constexpr int64_t kMostBlockElements = 128;
int64_t block_elements(Isa isa);
// Computes the blocks [0, count) of a tile; count is a multiple of a block. The last step is end_step().
using RunSteps = void (*)(const PointwiseStep* steps, size_t count);
RunSteps run_steps(Isa isa);
PointwiseStep::Function end_step(Isa isa);
// Fetches what the block this many elements ahead (numbers[0]) reads at places[0].
PointwiseStep::Function fetch_step(Isa isa);

// How an instruction of two operands has the one that is not in registers; it is places[0].
enum class StepForm : uint8_t {
  Itself,       // both operands are in registers
  Memory,       // the second one is in memory
  Number,       // ... and is one number
  MemoryFirst,  // the first one is in memory
  NumberFirst,  // ... and is one number
};

// Null where there is none. Instructions of one operand have StepForm::Itself alone.
PointwiseStep::Function arithmetic_step(PointwiseOp op, StepForm form, Isa isa);
// Functions of one operand, which put the block aside at places[1]. Those of wide_step, computed in double, may have
// two operands, and need memory for two blocks.
PointwiseStep::Function function_step(PointwiseOp op, Isa isa);
PointwiseStep::Function wide_step(PointwiseOp op, StepForm form, Isa isa);
// Of three operands, with the one at this position in registers and the others at places[0] and places[1].
PointwiseStep::Function ternary_step(PointwiseOp op, int position, Isa isa);
// Clip whose bounds are numbers.
PointwiseStep::Function clip_to_numbers_step(Isa isa);

// Puts elements of this type into registers, as float32, and back. Truth values are bytes.
PointwiseStep::Function load_step(DType dtype, Isa isa);
PointwiseStep::Function load_number_step(Isa isa);
PointwiseStep::Function store_step(DType dtype, Isa isa);
// Float32 past the caches, to places that are aligned to 64 bytes: what is too large for them would only push out the
// rest. Others may read the elements after finish_streams().
PointwiseStep::Function stream_step(Isa isa);
void finish_streams();
// Rounds to what Float16 or BFloat16 can hold.
PointwiseStep::Function rounding_step(DType dtype, Isa isa);

}  // namespace tenon
