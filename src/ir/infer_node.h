#pragma once

#include "ir/graph.h"

namespace tenon {

// Raised when something else follows than before, also by a type rule of src/ops: rules and declarations depend on it.
inline constexpr int kInferenceVersion = 2;

// What follows for a node's outputs from what is known of its inputs: types, elements of small integers, and whether
// they depend on constants alone. Written into the graph's values.
Status infer_node(Graph& graph, const GraphNode& node);

// The same into a copy of what is known, for comparing.
struct Facts {
  Type type;
  std::optional<std::vector<Dim>> known;
  std::vector<ConstantId> known_from;
  bool folds = false;
};
Result<std::vector<Facts>> inferred_facts(Graph& graph, const GraphNode& node);

}  // namespace tenon
