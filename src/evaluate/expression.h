#pragma once

#include <functional>

#include "ir/graph.h"
#include "plan/plan.h"

namespace tenon {

// A value that depends on constants alone, as a plan from these to it.
struct ConstantExpression {
  std::shared_ptr<const Plan> plan;  // reads the constants in order
  std::vector<ConstantId> constants;
  std::string layout;  // of the result, see WeightEntry
};

// The kernel family that computes an op.
using FamilyOfOp = std::function<std::string(OpId)>;

// The nodes that make a value, operands first; none for a constant.
std::vector<NodeId> nodes_behind(const Graph& graph, ValueId v);

// The expression of a value that folds and is no constant itself.
ConstantExpression expression_of(const Graph& graph, ValueId v, const FamilyOfOp& family);

}  // namespace tenon
