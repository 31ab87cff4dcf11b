// A Transpose between Reshapes, of which the second takes axes apart again.
#include "ir/readers.h"
#include "passes/optimize/permutation.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kReduceReshapes = "reduce_reshape_transpose";

// A shape as Reshape takes it for x: extents that are not numbers are copied from x, and one may be left open. Nothing
// where that does not say it.
std::optional<std::vector<int64_t>> target_for(const Shape& x, const Shape& shape) {
  std::vector<int64_t> target;
  int open = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_copied = i < x.size() && x[i] == shape[i];
    const auto number = shape[i].constant();
    open += !number && !is_copied;
    target.push_back(number ? *number : is_copied ? 0 : -1);
    if (number && *number < 1) return std::nullopt;
  }
  return open > 1 ? std::nullopt : std::optional(target);
}

// The extents that each of these is taken apart into, where `parts` in their order do that; nothing otherwise.
std::optional<std::vector<Shape>> taken_apart(const Shape& wholes, const Shape& parts) {
  std::vector<Shape> groups;
  size_t at = 0;
  for (const Dim& whole : wholes) {
    Shape group;
    for (Dim product = 1; group.empty() || product != whole;) {
      if (at == parts.size()) return std::nullopt;
      product = product * parts[at];
      group.push_back(parts[at++]);
    }
    groups.push_back(std::move(group));
  }
  // Extents of 1 that are left belong to the last one.
  for (; at < parts.size(); ++at) {
    if (parts[at] != Dim(1)) return std::nullopt;
    groups.back().push_back(parts[at]);
  }
  return groups;
}

// The same with the axes taken apart first: a Reshape to this shape, and a Transpose in this order.
struct Arrangement {
  Shape shape;
  Permutation order;
};

// What a Transpose in an order, and then taking its axes apart into these groups, is.
Arrangement arranged(const Permutation& order, const std::vector<Shape>& groups) {
  std::vector<size_t> place(order.size());  // in the result, of each axis before the Transpose
  for (size_t i = 0; i < order.size(); ++i) place[static_cast<size_t>(order[i])] = i;
  Arrangement result;
  std::vector<int64_t> first(order.size());
  for (size_t axis = 0; axis < order.size(); ++axis) {
    first[axis] = static_cast<int64_t>(result.shape.size());
    const Shape& group = groups[place[axis]];
    result.shape.insert(result.shape.end(), group.begin(), group.end());
  }
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t part = 0; part < groups[i].size(); ++part)
      result.order.push_back(first[static_cast<size_t>(order[i])] + static_cast<int64_t>(part));
  return result;
}

Attempt match_reshapes(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* turned = maker(graph, node.inputs[0], OpId::Transpose);
  const GraphNode* joined = turned ? maker(graph, turned->inputs[0], OpId::Reshape) : nullptr;
  if (!joined) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root || only_reader(graph, turned->inputs[0]) != turned->id)
    return Attempt::no("something else reads what is between the Reshapes");
  const ValueId x = joined->inputs[0];
  const auto &middle = graph.value(turned->outputs[0]).type.shape, &result = graph.value(node.outputs[0]).type.shape,
             &before = graph.value(x).type.shape;
  const auto order = permutation_of(graph, *turned);
  if (!middle || !result || !before || !order || middle->empty()) return Attempt::no("its shapes are not known");
  const auto groups = taken_apart(*middle, *result);
  if (!groups) return Attempt::no("its last Reshape is not known to take single axes apart");
  const Arrangement arrangement = arranged(*order, *groups);
  const auto target = target_for(*before, arrangement.shape);
  if (!target) return Attempt::no("its extents are not known");
  auto patch = std::make_unique<Patch>(graph, root, kReduceReshapes);
  patch->set_reason("axes are taken apart before they change places");
  const ValueId apart = *before == arrangement.shape ? x : patch->op(OpId::Reshape, {x, patch->integers(*target)});
  patch->redefine(node.outputs[0], patch->op(OpId::Transpose, {apart}, Params::of(TransposeParams{arrangement.order})));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule reduce_reshape_transpose() { return {kReduceReshapes, {OpId::Reshape}, match_reshapes}; }

}  // namespace tenon
