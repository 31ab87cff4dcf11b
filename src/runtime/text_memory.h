#pragma once

#include <span>

#include "tensor/tensor.h"

// Tensors of strings reserve their elements; what the strings hold on top of that is counted here.
namespace tenon {

// Refuses a step that repeats strings (Tile, Expand, broadcasts, ...) so often that the copies may exceed the budget.
Status check_repeated_text(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                           const MemoryBudget& budget);

// The same tensor, which also holds the share of the budget that its text takes.
Result<Tensor> charge_text(const Tensor& strings, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace tenon
