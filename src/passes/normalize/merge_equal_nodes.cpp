// Nodes that compute the same from the same operands are one node.
#include <algorithm>

#include "passes/normalize/rules.h"

namespace tenon {

namespace {

bool is_equal(const GraphNode& a, const GraphNode& b) {
  return a.op == b.op && a.inputs == b.inputs && a.bodies.empty() && b.bodies.empty() &&
         params_to_bytes(a.op, a.params) == params_to_bytes(b.op, b.params);
}

// Whether a node has every result of another.
bool has_results_of(const GraphNode& a, const GraphNode& b) {
  for (size_t i = 0; i < b.outputs.size(); ++i)
    if (b.outputs[i] != kNone && (i >= a.outputs.size() || a.outputs[i] == kNone)) return false;
  return true;
}

// The operand with the fewest readers: every equal node is among these.
ValueId rarest_operand(const Graph& graph, const GraphNode& node) {
  ValueId rarest = kNone;
  for (ValueId v : node.inputs)
    if (v != kNone && (rarest == kNone || graph.value(v).uses.size() < graph.value(rarest).uses.size())) rarest = v;
  return rarest;
}

Attempt match_equal_node(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const OpDef& def = op_def(node.op);
  if (!def.deterministic || def.has_bodies() || node.op == OpId::Unsupported || node.op == OpId::External)
    return Attempt::none();
  const ValueId operand = rarest_operand(graph, node);
  if (operand == kNone) return Attempt::none();
  for (const Use& use : graph.value(operand).uses) {
    if (use.kind != Use::Kind::Input || use.node == root || !graph.is_before(use.node, root)) continue;
    const GraphNode& earlier = graph.node(use.node);
    if (!is_equal(earlier, node) || !has_results_of(earlier, node)) continue;
    auto patch = std::make_unique<Patch>(graph, root, "merge_equal_nodes");
    patch->set_reason(fmt::format("node '{}' computes the same", earlier.name));
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNone) patch->forward(node.outputs[i], earlier.outputs[i]);
    return Attempt::of(std::move(patch));
  }
  return Attempt::none();
}

}  // namespace

Rule merge_equal_nodes() { return {"merge_equal_nodes", {}, match_equal_node}; }

}  // namespace tenon
