#include "compiler/targets/cpu/claim.h"
#include "ir/readers.h"

namespace tenon {

namespace {

bool is_one_number(const Graph& graph, ValueId v) {
  const auto& shape = graph.value(v).type.shape;
  return shape && shape->size() <= 1 && element_count(*shape) == Dim(1);
}

}  // namespace

Scaling scaling_of(const Graph& graph, ValueId v) {
  if (const GraphNode* node = maker(graph, v, OpId::Div))
    return is_one_number(graph, node->inputs[1]) ? Scaling{node, 0} : Scaling{};
  const GraphNode* node = maker(graph, v, OpId::Mul);
  for (const size_t x : {0, 1})
    if (node && is_one_number(graph, node->inputs[1 - x])) return {node, x};
  return {};
}

}  // namespace tenon
