#pragma once

#include "tensor/tensor.h"

// Tensors of strings reserve their elements; what the strings hold on top of that is counted here.
namespace tenon {

// The same tensor, which also holds a share of the budget for memory that belongs to it.
Result<Tensor> with_charge(const Tensor& tensor, int64_t bytes, const std::shared_ptr<MemoryBudget>& budget);

// The same with the share that its text takes, after whoever made the tensor has written it. Tensors of other types
// stay as they are.
Result<Tensor> charge_text(const Tensor& tensor, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace tenon
