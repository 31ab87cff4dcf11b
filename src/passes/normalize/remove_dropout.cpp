// Dropout does nothing outside of training.
#include "passes/normalize/rules.h"
#include "passes/normalize/same_value.h"

namespace tenon {

namespace {

Attempt match_dropout(Graph& graph, NodeId root) {
  constexpr size_t kTraining = 2;
  const GraphNode& node = graph.node(root);
  if (node.outputs.size() > 1 && node.outputs[1] != kNone && !graph.value(node.outputs[1]).uses.empty())
    return Attempt::no("its mask is read");
  if (node.inputs.size() > kTraining &&
      graph.ask(node.inputs[kTraining], {Property::Kind::AllZero}, "remove_dropout") != Answer::Yes)
    return Attempt::no("it may be in training mode");
  return forward_to_input(graph, root, "remove_dropout", "it drops nothing outside of training");
}

}  // namespace

Rule remove_dropout() { return {"remove_dropout", {OpId::Dropout}, match_dropout}; }

}  // namespace tenon
