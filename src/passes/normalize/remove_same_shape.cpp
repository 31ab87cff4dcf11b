// Ops that arrange the elements of their input by a shape, where the result has the shape of the input.
#include <algorithm>

#include "ops/transpose.h"
#include "passes/normalize/rules.h"
#include "passes/normalize/same_value.h"

namespace tenon {

namespace {

Attempt match_same_shape(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (!has_same_shape(graph, node.inputs[0], node.outputs[0])) return Attempt::none();
  return forward_to_input(graph, root, "remove_same_shape", "its result has the shape of its input");
}

Attempt match_same_order(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const auto& perm = node.params.get<TransposeParams>().perm;
  const auto& shape = graph.value(node.inputs[0]).type.shape;
  const bool keeps_order = perm ? std::ranges::is_sorted(*perm) : shape && shape->size() < 2;
  if (!keeps_order) return Attempt::none();
  return forward_to_input(graph, root, "remove_same_order", "it keeps the order of the axes");
}

}  // namespace

Rule remove_same_shape() {
  return {
      "remove_same_shape", {OpId::Reshape, OpId::Expand, OpId::Flatten, OpId::Squeeze, OpId::Tile}, match_same_shape};
}

Rule remove_same_order() { return {"remove_same_order", {OpId::Transpose}, match_same_order}; }

}  // namespace tenon
