// A Where whose condition is negated.
#include "ir/readers.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kRemoveNot = "remove_not";

Attempt match_where(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* negation = maker(graph, node.inputs[0], OpId::Not);
  if (!negation) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its condition as well");
  auto patch = std::make_unique<Patch>(graph, root, kRemoveNot);
  patch->set_reason("its branches change places instead of a Not");
  patch->redefine(node.outputs[0], patch->op(OpId::Where, {negation->inputs[0], node.inputs[2], node.inputs[1]}));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule remove_not() { return {kRemoveNot, {OpId::Where}, match_where}; }

}  // namespace tenon
