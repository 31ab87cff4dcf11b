#pragma once

#include "ir/graph.h"

namespace tenon {

// The value of a constant, or of a value that folds: to the bit what a weight program makes of the same constants. An
// error when a constant cannot be read or an op refuses its elements.
Result<Tensor> evaluate(const Graph& graph, ValueId v);

// One op on constants. An undefined tensor is an absent input. An error for ops that do not fit a weight program.
Result<Tensor> evaluate(OpId op, const Params& params, const std::vector<Tensor>& inputs);

}  // namespace tenon
