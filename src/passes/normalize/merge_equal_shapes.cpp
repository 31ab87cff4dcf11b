// Equal shapes, axes and indices are one initializer. Weights never are: a checkpoint may set each to something else.
#include <algorithm>
#include <cstring>

#include "passes/normalize/rules.h"
#include "passes/normalize/structural.h"

namespace tenon {

namespace {

// An input that decides shapes or places.
struct StructuralInput {
  OpId op;
  size_t first, last;
};
constexpr StructuralInput kStructuralInputs[] = {
    {OpId::Reshape, 1, 1}, {OpId::Expand, 1, 1}, {OpId::Tile, 1, 1},      {OpId::Slice, 1, 4},
    {OpId::Pad, 1, 1},     {OpId::Split, 1, 1},  {OpId::Squeeze, 1, 1},   {OpId::Unsqueeze, 1, 1},
    {OpId::TopK, 1, 1},    {OpId::Gather, 1, 1}, {OpId::CumSum, 1, 1},    {OpId::ConstantOfShape, 0, 0},
    {OpId::OneHot, 1, 1},  {OpId::Range, 0, 2},  {OpId::ReduceSum, 1, 1}, {OpId::ReduceMean, 1, 1},
};

bool is_structural_use(const Graph& graph, const Use& use) {
  if (use.kind == Use::Kind::Slot) return true;  // of a node that has it as input or parameter
  return use.kind == Use::Kind::Input && std::ranges::any_of(kStructuralInputs, [&](const StructuralInput& input) {
           return graph.node(use.node).op == input.op && input.first <= use.index && use.index <= input.last;
         });
}

bool is_mergeable(const Graph& graph, ValueId v) {
  const GraphValue& value = graph.value(v);
  const Constant* constant = graph.constant(v);
  return constant && value.in_file && (!constant->from_node || constant->in_data_file) && is_structural(*constant) &&
         !value.uses.empty() &&
         std::ranges::all_of(value.uses, [&](const Use& use) { return is_structural_use(graph, use); });
}

// The first initializer with the same elements.
ValueId equal_before(Graph& graph, ValueId v) {
  constexpr std::string_view kRule = "merge_equal_shapes";
  const Constant& constant = *graph.constant(v);
  for (size_t i = 0; i < v.index(); ++i) {
    const ValueId other(i);
    const Constant* earlier = graph.constant(other);
    if (!earlier || earlier->dtype != constant.dtype || earlier->dims != constant.dims) continue;
    if (!is_mergeable(graph, other)) continue;
    const Tensor *a = graph.ask_elements(other, kRule), *b = graph.ask_elements(v, kRule);
    if (a && b && std::memcmp(a->data(), b->data(), static_cast<size_t>(a->bytes())) == 0) return other;
  }
  return kNone;
}

// Bodies have names of their own, and keep what they read.
Attempt match_equal_shape(Graph& graph, NodeId root) {
  if (graph.is_body) return Attempt::none();
  for (ValueId v : graph.node(root).inputs) {
    if (v == kNone || !is_mergeable(graph, v)) continue;
    const ValueId other = equal_before(graph, v);
    if (other == kNone) continue;
    auto patch = std::make_unique<Patch>(graph, root, "merge_equal_shapes");
    patch->set_reason(fmt::format("'{}' is the same as '{}'", graph.value(v).name, graph.value(other).name));
    patch->forward(v, other);
    return Attempt::of(std::move(patch));
  }
  return Attempt::none();
}

}  // namespace

Rule merge_equal_shapes() {
  std::vector<OpId> roots;
  for (const StructuralInput& input : kStructuralInputs) roots.push_back(input.op);
  return {"merge_equal_shapes", std::move(roots), match_equal_shape};
}

}  // namespace tenon
