#pragma once

#include <optional>
#include <span>

#include "executor/prepared_plan.h"
#include "executor/run_state.h"

namespace tenon {

// Where an output of a run goes: the caller's dense memory, or (empty) memory of Tenon's.
using OutputTarget = std::optional<TensorView>;

// Runs a plan. inputs: one per plan input (null takes the input's default slot); the values must stay until the end.
// results: one per plan output; an output that went to the caller's memory comes back as a view of it. The state needs
// no arena of its own: runs take theirs from `arenas`.
Status run_plan(const PreparedPlan& plan, RunState& state, ArenaPool& arenas, std::span<const Value* const> inputs,
                std::span<const OutputTarget> targets, std::span<Value> results);

}  // namespace tenon
