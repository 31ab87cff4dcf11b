// A Concat of Concats along its axis, of all parts of a Split in their order, or of neighbours. A Split of what was
// joined.
#include "ir/readers.h"
#include "ops/concat.h"
#include "ops/split.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/slice_ranges.h"

namespace tenon {

namespace {

constexpr std::string_view kSimplifyConcat = "simplify_concat", kSimplifySplit = "simplify_split";

Attempt join_split(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* split = maker(graph, node.inputs[0], OpId::Split);
  if (!split || split->outputs != node.inputs) return Attempt::none();
  const auto axis = axis_from_front(graph, node.params.get<ConcatParams>().axis, node.outputs[0]);
  if (!axis || axis != axis_from_front(graph, split->params.get<SplitParams>().axis, split->inputs[0]))
    return Attempt::no("the axes of Split and Concat are not known to be the same");
  auto patch = std::make_unique<Patch>(graph, root, kSimplifyConcat);
  patch->set_reason("it joins all parts of a Split");
  patch->forward(node.outputs[0], split->inputs[0]);
  return Attempt::of(std::move(patch));
}

// Neighbours that are taken of one value next to each other are taken at once.
Attempt join_stretches(Graph& graph, NodeId root, std::optional<int64_t> axis) {
  struct Part {
    ValueId value;
    std::optional<Stretch> taken;
  };
  const GraphNode& node = graph.node(root);
  std::vector<Part> parts;
  for (ValueId v : node.inputs) {
    const NodeId id = graph.value(v).producer;
    Part part{v, id == kNone ? std::nullopt : stretch_of(graph, graph.node(id), kSimplifyConcat)};
    if (!part.taken || part.taken->axis != axis || only_reader(graph, v) != root) part.taken.reset();
    auto* before = parts.empty() || !parts.back().taken ? nullptr : &*parts.back().taken;
    if (before && part.taken && before->of == part.taken->of && before->end == part.taken->start) {
      before->end = part.taken->end;
      parts.back().value = kNone;
    } else {
      parts.push_back(part);
    }
  }
  if (parts.size() == node.inputs.size()) return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, kSimplifyConcat);
  patch->set_reason("it joins parts that are next to each other");
  std::vector<ValueId> joined;
  for (const auto& [value, taken] : parts) joined.push_back(value == kNone ? sliced(*patch, *taken) : value);
  patch->redefine(node.outputs[0],
                  joined.size() == 1 ? joined[0] : patch->op(OpId::Concat, std::move(joined), node.params));
  return Attempt::of(std::move(patch));
}

Attempt match_concat(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (Attempt joined = join_split(graph, root); joined.patch || !joined.reason.empty()) return joined;
  const auto axis = axis_from_front(graph, node.params.get<ConcatParams>().axis, node.outputs[0]);
  std::vector<ValueId> parts;
  bool has_inner = false;
  for (ValueId v : node.inputs) {
    const GraphNode* inner = maker(graph, v, OpId::Concat);
    const bool joins = inner && axis && only_reader(graph, v) == root &&
                       axis_from_front(graph, inner->params.get<ConcatParams>().axis, v) == axis;
    has_inner = has_inner || joins;
    if (joins)
      parts.insert(parts.end(), inner->inputs.begin(), inner->inputs.end());
    else
      parts.push_back(v);
  }
  if (!has_inner) return join_stretches(graph, root, axis);
  auto patch = std::make_unique<Patch>(graph, root, kSimplifyConcat);
  patch->set_reason("it concatenates along the axis of what it concatenates");
  patch->redefine(node.outputs[0], patch->op(OpId::Concat, std::move(parts), node.params));
  return Attempt::of(std::move(patch));
}

// A Split into what was joined just before.
Attempt match_split(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* joined = maker(graph, node.inputs[0], OpId::Concat);
  if (!joined || joined->inputs.size() != node.outputs.size()) return Attempt::none();
  const auto axis = axis_from_front(graph, node.params.get<SplitParams>().axis, node.inputs[0]);
  if (!axis || axis != axis_from_front(graph, joined->params.get<ConcatParams>().axis, node.inputs[0]))
    return Attempt::no("the axes of Concat and Split are not known to be the same");
  auto patch = std::make_unique<Patch>(graph, root, kSimplifySplit);
  patch->set_reason("it takes apart what a Concat joins");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId part = node.outputs[i];
    const auto extent = extent_of(graph, joined->inputs[i], *axis);
    if (!extent || (part != kNone && extent != extent_of(graph, part, *axis)))
      return Attempt::no("the extents of the parts are not known to be the same");
    if (part != kNone) patch->forward(part, joined->inputs[i]);
  }
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule simplify_concat() { return {kSimplifyConcat, {OpId::Concat}, match_concat, 2}; }
Rule simplify_split() { return {kSimplifySplit, {OpId::Split}, match_split}; }

}  // namespace tenon
