// Slices that take everything.
#include "passes/normalize/rules.h"
#include "passes/normalize/same_value.h"

namespace tenon {

namespace {

// As many elements, forwards and without gaps: these are all of them, in their order.
Attempt match_same_slice(Graph& graph, NodeId root) {
  constexpr size_t kSteps = 4;
  const GraphNode& node = graph.node(root);
  if (!has_same_shape(graph, node.inputs[0], node.outputs[0])) return Attempt::none();
  if (node.inputs.size() > kSteps && node.inputs[kSteps] != kNone &&
      graph.ask(node.inputs[kSteps], Property::equal_to(1), "remove_same_slice") != Answer::Yes)
    return Attempt::no("it is not known to step forwards one by one");
  return forward_to_input(graph, root, "remove_same_slice", "it takes the whole input");
}

}  // namespace

Rule remove_same_slice() { return {"remove_same_slice", {OpId::Slice}, match_same_slice}; }

}  // namespace tenon
