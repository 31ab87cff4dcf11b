// Nodes that hand on their only operand: Identity, and a Concat, Sum, Mean, Max or Min of one.
#include "passes/normalize/rules.h"
#include "passes/normalize/same_value.h"

namespace tenon {

namespace {

Attempt match_identity(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (node.inputs.size() != 1) return Attempt::none();
  return forward_to_input(graph, root, "remove_identity", "it hands on its only operand");
}

}  // namespace

Rule remove_identity() {
  return {
      "remove_identity", {OpId::Identity, OpId::Concat, OpId::Sum, OpId::Mean, OpId::Max, OpId::Min}, match_identity};
}

}  // namespace tenon
