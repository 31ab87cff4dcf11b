// A Reshape of what only arranged the same elements under other extents.
#include <algorithm>

#include "ir/readers.h"
#include "ops/reshape.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/permutation.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kMergeReshapes = "merge_reshapes";

// Whether a Transpose moves axes of extent 1 alone.
bool keeps_order(const Graph& graph, const GraphNode& node) {
  const auto& shape = graph.value(node.inputs[0]).type.shape;
  const auto order = permutation_of(graph, node);
  if (!shape || !order) return false;
  Permutation moved;
  for (int64_t axis : *order)
    if ((*shape)[static_cast<size_t>(axis)] != Dim(1)) moved.push_back(axis);
  return std::ranges::is_sorted(moved);
}

bool keeps_elements(const Graph& graph, const GraphNode& node) {
  switch (node.op) {
    case OpId::Reshape:
    case OpId::Flatten:
    case OpId::Squeeze:
    case OpId::Unsqueeze:
      return true;
    case OpId::Transpose:
      return keeps_order(graph, node);
    default:
      return false;
  }
}

Attempt match_reshape(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const NodeId before = graph.value(node.inputs[0]).producer;
  if (before == kNone || !keeps_elements(graph, graph.node(before))) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  const auto target = known_integers(graph, node.inputs[1], kMergeReshapes);
  // An extent that is copied would be copied from another shape.
  if (!target || std::ranges::find(*target, 0) != target->end()) return Attempt::no("it may copy extents of its input");
  auto patch = std::make_unique<Patch>(graph, root, kMergeReshapes);
  patch->set_reason("what is before it arranges the same elements in the same order");
  patch->redefine(node.outputs[0],
                  patch->op(OpId::Reshape, {graph.node(before).inputs[0], node.inputs[1]}, node.params));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule merge_reshapes() { return {kMergeReshapes, {OpId::Reshape}, match_reshape}; }

}  // namespace tenon
