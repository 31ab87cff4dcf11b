// A Concat of Concats along its axis. A Concat of all parts of a Split in their order.
#include <algorithm>

#include "ir/readers.h"
#include "ops/concat.h"
#include "ops/split.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kSimplifyConcat = "simplify_concat";

// An axis counted from the front; nothing when that is not known.
std::optional<int64_t> front_axis(const Graph& graph, int64_t axis, ValueId v) {
  if (axis >= 0) return axis;
  const auto rank = rank_of(graph, v);
  return rank ? std::optional(axis + *rank) : std::nullopt;
}

Attempt join_split(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* split = maker(graph, node.inputs[0], OpId::Split);
  if (!split || split->outputs != node.inputs) return Attempt::none();
  const auto axis = front_axis(graph, node.params.get<ConcatParams>().axis, node.outputs[0]);
  if (!axis || axis != front_axis(graph, split->params.get<SplitParams>().axis, split->inputs[0]))
    return Attempt::no("the axes of Split and Concat are not known to be the same");
  auto patch = std::make_unique<Patch>(graph, root, kSimplifyConcat);
  patch->set_reason("it joins all parts of a Split");
  patch->forward(node.outputs[0], split->inputs[0]);
  return Attempt::of(std::move(patch));
}

Attempt match_concat(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (Attempt joined = join_split(graph, root); joined.patch || !joined.reason.empty()) return joined;
  const auto axis = front_axis(graph, node.params.get<ConcatParams>().axis, node.outputs[0]);
  std::vector<ValueId> parts;
  bool has_inner = false;
  for (ValueId v : node.inputs) {
    const GraphNode* inner = maker(graph, v, OpId::Concat);
    const bool joins = inner && axis && only_reader(graph, v) == root &&
                       front_axis(graph, inner->params.get<ConcatParams>().axis, v) == axis;
    has_inner = has_inner || joins;
    if (joins)
      parts.insert(parts.end(), inner->inputs.begin(), inner->inputs.end());
    else
      parts.push_back(v);
  }
  if (!has_inner) return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, kSimplifyConcat);
  patch->set_reason("it concatenates along the axis of what it concatenates");
  patch->redefine(node.outputs[0], patch->op(OpId::Concat, std::move(parts), node.params));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule simplify_concat() { return {kSimplifyConcat, {OpId::Concat}, match_concat}; }

}  // namespace tenon
