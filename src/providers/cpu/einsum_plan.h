#pragma once

#include <optional>
#include <vector>

#include "ops/einsum.h"
#include "tensor/tensor.h"

// How an equation is computed: pairs of operands, from the left to the right, each a batch of matrix products.
namespace tenon {

// Loops over elements that lie `stride` apart.
struct EinsumAxis {
  int64_t extent = 1, stride = 0;
};

// Brings an operand into a dense order of its own, and sums up what no other operand and no result has.
struct EinsumCopy {
  std::vector<EinsumAxis> axes;      // in the order of the copy, outermost first; nothing is copied when empty
  int64_t elements = 0, summed = 1;  // of the copy; neighbours that are summed up
  bool copies() const { return elements > 0; }
};

struct EinsumOperand {
  static constexpr size_t kBefore = static_cast<size_t>(-1);
  size_t source = kBefore;  // an input, or what the stage before gave
  EinsumCopy copy;
};

// result[batch, row, column] = sum of left[batch, row, k] * right[batch, k, column].
struct EinsumStage {
  struct Batch {
    int64_t extent, left, right, result;
  };
  EinsumOperand left, right;
  std::vector<Batch> batch;  // outermost first
  EinsumAxis left_rows, left_depth, right_depth, right_columns, result_rows, result_columns;
  int64_t batch_count = 1;
  int64_t elements = 0;  // of the result, when it is not the output itself
};

struct EinsumPlan {
  std::vector<EinsumStage> stages;
  // From the last stage's result, or from the one input, to the output; copies nothing when the last stage wrote it.
  EinsumOperand last;
};

// Nothing when the equation has more loops than copies take.
std::optional<EinsumPlan> plan_einsum(const EinsumLabels& labels, std::span<const TensorView> inputs);

}  // namespace tenon
