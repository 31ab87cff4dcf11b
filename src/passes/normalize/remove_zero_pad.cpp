// Pads that add nothing.
#include "passes/normalize/rules.h"
#include "passes/normalize/same_value.h"

namespace tenon {

namespace {

Attempt match_zero_pad(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (node.inputs.size() < 2 || node.inputs[1] == kNone) return Attempt::none();
  if (graph.ask(node.inputs[1], {Property::Kind::AllZero}, "remove_zero_pad") != Answer::Yes) return Attempt::none();
  return forward_to_input(graph, root, "remove_zero_pad", "all its pads are zero");
}

}  // namespace

Rule remove_zero_pad() { return {"remove_zero_pad", {OpId::Pad}, match_zero_pad}; }

}  // namespace tenon
