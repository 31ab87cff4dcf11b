// Casts to the type that the value has.
#include "ops/cast.h"
#include "passes/normalize/rules.h"
#include "passes/normalize/same_value.h"

namespace tenon {

namespace {

Attempt match_same_cast(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const DType from = graph.value(node.inputs[0]).type.dtype, to = graph.value(node.outputs[0]).type.dtype;
  if (from == DType::Undefined || from != to) return Attempt::none();
  return forward_to_input(graph, root, "remove_same_cast", fmt::format("its input is {} already", dtype_name(to)));
}

}  // namespace

Rule remove_same_cast() { return {"remove_same_cast", {OpId::Cast, OpId::CastLike}, match_same_cast}; }

}  // namespace tenon
