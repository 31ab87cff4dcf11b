#include "ir/measure.h"

#include <algorithm>
#include <set>
#include <vector>

namespace tenon {

namespace {

// Ops that a cheaper one can stand for. What all others weigh leaves room below and above.
int64_t weight_of(OpId op) {
  switch (op) {
    case OpId::Pow:
      return 10;
    case OpId::Div:
      return 9;
    default:
      return 8;
  }
}

// Nodes of one group are written as one.
int64_t written_nodes(const Graph& graph, const std::vector<NodeId>& nodes) {
  int64_t count = 0;
  std::set<GroupId> groups;
  for (NodeId id : nodes) {
    const GraphNode& node = graph.node(id);
    const bool is_alone = node.group == kNone || graph.group(node.group).touched;
    if (is_alone || groups.insert(node.group).second) ++count;
    for (const auto& body : node.bodies) count += written_nodes(*body, body->node_ids());
  }
  return count;
}

int64_t written_nodes(const Patch& patch) {
  std::vector<NodeId> alone;
  std::set<size_t> groups;
  for (NodeId id : patch.new_nodes())
    if (const auto group = patch.group_of(id))
      groups.insert(*group);
    else
      alone.push_back(id);
  return static_cast<int64_t>(groups.size()) + written_nodes(patch.graph(), alone);
}

}  // namespace

Measure& Measure::operator+=(const Measure& other) {
  work += other.work;
  written += other.written;
  folding += other.folding;
  operands += other.operands;
  constants += other.constants;
  shapes += other.shapes;
  return *this;
}

Measure& Measure::operator-=(const Measure& other) {
  work -= other.work;
  written -= other.written;
  folding -= other.folding;
  operands -= other.operands;
  constants -= other.constants;
  shapes -= other.shapes;
  return *this;
}

Measure measure_of(const Graph& graph, const GraphNode& node) {
  Measure m;
  const bool folds = std::ranges::all_of(node.outputs, [&](ValueId v) { return v == kNone || graph.value(v).folds; });
  if (folds)
    m.folding = 1;
  else
    m.work = weight_of(node.op);
  m.operands = std::ranges::count_if(node.inputs, [](ValueId v) { return v != kNone; });
  m.shapes = node.op == OpId::Shape && graph.value(node.inputs[0]).producer != kNone;
  for (const auto& body : node.bodies)
    for (const GraphNode& inner : body->nodes()) m += measure_of(*body, inner);
  return m;
}

Measure change_by(const Patch& patch) {
  const Graph& graph = patch.graph();
  Measure change;
  for (NodeId id : patch.new_nodes()) change += measure_of(graph, graph.node(id));
  for (NodeId id : patch.dying_nodes()) change -= measure_of(graph, graph.node(id));
  change.written = written_nodes(patch) - written_nodes(graph, patch.dying_nodes());
  // A constant that nobody reads any more.
  for (const auto& [old, existing] : patch.forwarded())
    if (graph.value(old).constant != kNone) --change.constants;
  return change;
}

}  // namespace tenon
