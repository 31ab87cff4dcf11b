// A Transpose of the last two axes between Reshapes that join the axes before them and take them apart again.
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

Permutation swap_last(size_t rank) {
  Permutation order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

Attempt match_reshapes(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* turned = maker(graph, node.inputs[0], OpId::Transpose);
  const GraphNode* joined = turned ? maker(graph, turned->inputs[0], OpId::Reshape) : nullptr;
  if (!joined || permutation_of(graph, *turned) != Permutation{0, 2, 1}) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root || only_reader(graph, turned->inputs[0]) != turned->id)
    return Attempt::no("something else reads what is between the Reshapes");
  const ValueId x = joined->inputs[0];
  const auto &middle = graph.value(joined->outputs[0]).type.shape, &result = graph.value(node.outputs[0]).type.shape,
             &before = graph.value(x).type.shape;
  if (!middle || !result || !before || result->size() < 3) return Attempt::no("its shapes are not known");
  const size_t last = result->size() - 1;
  Shape leading(result->begin(), result->end() - 2);
  const bool keeps_last_axes = (*result)[last] == (*middle)[1] && (*result)[last - 1] == (*middle)[2];
  if (!keeps_last_axes || element_count(leading) != (*middle)[0])
    return Attempt::no("the Reshapes are not known to keep the last two axes");
  leading.insert(leading.end(), {(*middle)[1], (*middle)[2]});
  const auto target = target_for(*before, leading);
  if (!target) return Attempt::no("its extents are not known");
  auto patch = std::make_unique<Patch>(graph, root, kReduceReshapes);
  patch->set_reason("the axes before the last two stay where they are");
  const ValueId apart = *before == leading ? x : patch->op(OpId::Reshape, {x, patch->integers(*target)});
  patch->redefine(node.outputs[0],
                  patch->op(OpId::Transpose, {apart}, Params::of(TransposeParams{swap_last(leading.size())})));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule reduce_reshape_transpose() { return {kReduceReshapes, {OpId::Reshape}, match_reshapes}; }

}  // namespace tenon
