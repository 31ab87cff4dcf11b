#pragma once

#include <optional>
#include <span>
#include <vector>

#include "providers/cpu/pointwise_program.h"
#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/pointwise_tiles.h"
#include "providers/cpu/stored_dims.h"

namespace tenon {

// A step of a program with the functions of an instruction set.
struct BoundPointwiseStep {
  using Place = PointwiseProgram::Place;
  PointwiseStep::Function in_memory = nullptr;
  PointwiseStep::Function of_numbers = nullptr;  // where all operands are one number; null: there is none
  PointwiseStep::Function streamed = nullptr;    // of stores in large results; null: there is none
  bool puts_block_aside = false;
  std::array<float, PointwiseInstruction::kNumbers> numbers{};
  size_t place_count = 0;
  std::array<Place, 2> operands{};
  std::span<const Place> places() const { return std::span(operands).first(place_count); }
};

// What follows from the shapes of a run.
struct PointwiseSchedule {
  PointwiseTiles tiles;
  // Inputs that are one number, which some step needs in every lane.
  std::array<bool, kMostPointwiseInputs> is_spread{};

  PointwiseSchedule(std::span<const BoundPointwiseStep> steps, Dims result, std::span<const Dims> inputs, int64_t work);
  bool takes_numbers(const BoundPointwiseStep& step) const;
};

// A bound expression.
struct PointwiseState {
  struct Input {
    DType dtype{};
    int64_t element_bytes = 4;
    bool is_blocked = false;
  };
  struct Output {
    DType dtype{};  // Undefined: nobody wants it
    int64_t element_bytes = 4;
  };

  std::vector<BoundPointwiseStep> steps;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  size_t slots = 0;
  int64_t block = 0;  // elements
  RunSteps run = nullptr;
  PointwiseStep::Function end = nullptr, fetch = nullptr;
  int64_t work = 0;        // of an element
  size_t any_output = 0;   // that is wanted; all have one shape
  bool in_blocks = false;  // the outputs lie in blocks of channels
  // For the shapes that it was bound with.
  std::vector<std::vector<int64_t>> bound_dims;
  std::optional<PointwiseSchedule> schedule;
  // Inputs with a number for each channel, in whole blocks.
  int64_t padded_bytes = 0;

  StoredDims stored_dims(Dims dims, bool is_blocked, size_t rank) const {
    return in_blocks ? StoredDims::in_blocks(dims, is_blocked, rank) : StoredDims(dims);
  }
  // For a result and inputs of these dims.
  PointwiseSchedule schedule_for(Dims result, std::span<const Dims> inputs) const;
};

// How a thread's memory is used, in bytes from its beginning: elements of each input, a block of each output, the
// slots, two blocks that functions put aside, the steps, and the padded inputs.
struct PointwiseScratch {
  static constexpr int64_t kBlockBytes = kMostBlockElements * static_cast<int64_t>(sizeof(float));
  static constexpr int64_t kInputBytes = PointwiseTiles::kGathered * static_cast<int64_t>(sizeof(float));
  int64_t outputs, slots, aside, steps, padded, end;
  explicit PointwiseScratch(const PointwiseState& state);
};

class KernelContext;
void run_pointwise_chunks(KernelContext& c, const PointwiseState& state, const PointwiseSchedule& schedule);

}  // namespace tenon
