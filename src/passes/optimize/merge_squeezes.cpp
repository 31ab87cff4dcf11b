// Unsqueezes and Squeezes in a row.
#include <algorithm>

#include "ir/readers.h"
#include "passes/normalize/same_value.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kMergeSqueezes = "merge_squeezes";

// The axes that a node adds or drops, in order and from the front; nothing when they are not known.
std::optional<std::vector<int64_t>> axes_of(Graph& graph, const GraphNode& node) {
  const ValueId wide = node.op == OpId::Unsqueeze ? node.outputs[0] : node.inputs[0];
  const auto rank = rank_of(graph, wide);
  auto axes = node.inputs.size() > 1 ? known_integers(graph, node.inputs[1], kMergeSqueezes) : std::nullopt;
  if (!axes || !rank) return std::nullopt;
  for (int64_t& axis : *axes) axis += axis < 0 ? *rank : 0;
  std::ranges::sort(*axes);
  return axes;
}

// All axes of a tensor that `some` of its axes, and then `others` of the rest, are.
std::vector<int64_t> joined(const std::vector<int64_t>& some, const std::vector<int64_t>& others) {
  std::vector<int64_t> all = some;
  int64_t rest = 0;
  for (int64_t axis = 0; !others.empty() && rest <= others.back(); ++axis) {
    if (std::ranges::binary_search(some, axis)) continue;
    if (std::ranges::binary_search(others, rest++)) all.push_back(axis);
  }
  std::ranges::sort(all);
  return all;
}

Attempt match_squeezes(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const NodeId before = graph.value(node.inputs[0]).producer;
  if (before == kNone) return Attempt::none();
  const GraphNode& inner = graph.node(before);
  if (inner.op != OpId::Squeeze && inner.op != OpId::Unsqueeze) return Attempt::none();
  const auto outer_axes = axes_of(graph, node), inner_axes = axes_of(graph, inner);
  if (inner.op != node.op) {
    const bool undoes = has_same_shape(graph, inner.inputs[0], node.outputs[0]) ||
                        (node.op == OpId::Squeeze && outer_axes && outer_axes == inner_axes);
    if (!undoes) return Attempt::no("they are not known to undo each other");
    auto patch = std::make_unique<Patch>(graph, root, kMergeSqueezes);
    patch->set_reason("together they change nothing");
    patch->forward(node.outputs[0], inner.inputs[0]);
    return Attempt::of(std::move(patch));
  }
  if (!outer_axes || !inner_axes) return Attempt::no("their axes are not known");
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  auto patch = std::make_unique<Patch>(graph, root, kMergeSqueezes);
  patch->set_reason("one node does what two do");
  const auto axes = node.op == OpId::Squeeze ? joined(*inner_axes, *outer_axes) : joined(*outer_axes, *inner_axes);
  patch->redefine(node.outputs[0], patch->op(node.op, {inner.inputs[0], patch->integers(axes)}));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule merge_squeezes() { return {kMergeSqueezes, {OpId::Squeeze, OpId::Unsqueeze}, match_squeezes}; }

}  // namespace tenon
