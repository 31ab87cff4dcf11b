#pragma once

#include <array>
#include <span>
#include <vector>

#include "ops/pointwise.h"
#include "tensor/dtype.h"

namespace tenon {

// A pointwise expression as a sequence of steps that each change one block of elements in registers. Results that are
// needed when the registers hold something else wait in slots, blocks of memory that stays in the first-level cache.
struct PointwiseProgram {
  struct Place {
    enum class Kind : uint8_t { Input, Slot, Output };
    Kind kind{};
    size_t number = 0;
    bool operator==(const Place&) const = default;
  };

  struct Step {
    enum class Kind : uint8_t { Load, Compute, Store };
    Kind kind{};
    PointwiseInstruction instruction{};  // of Kind::Compute
    int position = 0;                    // of the operand in registers
    bool with_itself = false;            // the other operand is the same
    size_t places = 0;
    std::array<Place, 2> operands{};  // the other operands; what is loaded; where it is stored
  };

  std::vector<Step> steps;
  size_t slots = 0;
};

// Inputs of other types than float32 are loaded before anything is computed from them. Unwanted outputs have the type
// Undefined.
PointwiseProgram make_pointwise_program(const PointwiseParams& params, std::span<const DType> inputs,
                                        std::span<const DType> outputs);

}  // namespace tenon
