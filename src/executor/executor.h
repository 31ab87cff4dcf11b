#pragma once

#include <span>
#include <vector>

#include "executor/frame.h"

namespace tenon {

// Where an output of a run goes: the caller's dense memory, or (empty) memory of Tenon's.
using OutputTarget = std::optional<TensorView>;

// Runs a plan. inputs: one per plan input (an empty Value takes the input's default slot); captures: one per capture.
// Returns one Value per plan output; an output that went to the caller's memory comes back as a view of it.
Result<std::vector<Value>> run_plan(const PreparedPlan& plan, RunState& state, std::vector<Value> inputs,
                                    std::vector<Value> captures, std::span<const OutputTarget> targets = {});

}  // namespace tenon
