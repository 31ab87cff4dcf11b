#include "ir/infer_readers.h"

#include <fmt/format.h>

#include <set>

#include "ir/infer_node.h"

namespace tenon {

namespace {

// Readers that wait, in data-flow order.
class Waiting {
 public:
  explicit Waiting(const Graph& graph) : graph_(graph), ids_(Before{&graph}) {}
  void add_readers(ValueId v) {
    for (const Use& use : graph_.value(v).uses)
      if (use.kind == Use::Kind::Input || use.kind == Use::Kind::Capture) ids_.insert(use.node);
  }
  NodeId take() {
    if (ids_.empty()) return kNone;
    const NodeId id = *ids_.begin();
    ids_.erase(ids_.begin());
    return id;
  }

 private:
  struct Before {
    const Graph* graph;
    bool operator()(NodeId a, NodeId b) const { return graph->is_before(a, b); }
  };
  const Graph& graph_;
  std::set<NodeId, Before> ids_;
};

bool same(const GraphValue& value, const Facts& facts) {
  return value.type == facts.type && value.known == facts.known && value.folds == facts.folds;
}

// Takes over what is new; false when nothing is.
Result<bool> sharpen(GraphValue& value, Facts facts) {
  auto both = merge(facts.type, value.type);
  if (!both)
    return error(Code::Internal, "'{}' was {} and is now inferred as {}", value.name, value.type.to_string(),
                 facts.type.to_string());
  facts.type = std::move(*both);
  if (!facts.known) {
    facts.known = value.known;
    facts.known_from = value.known_from;
  }
  if (same(value, facts)) return false;
  value.type = std::move(facts.type);
  value.known = std::move(facts.known);
  value.known_from = std::move(facts.known_from);
  value.folds = facts.folds;
  return true;
}

// What bodies see of the values they take from outside.
Status pass_into_bodies(Graph& graph, const GraphNode& node) {
  for (const auto& body : node.bodies) {
    std::vector<ValueId> changed;
    for (const GraphCapture& c : body->captures) {
      const GraphValue& outer = graph.value(c.outer);
      Facts facts{outer.type, outer.known, outer.known_from, body->value(c.inner).folds};
      TN_ASSIGN_OR_RETURN(const bool is_new, sharpen(body->value(c.inner), std::move(facts)));
      if (is_new) changed.push_back(c.inner);
    }
    TN_RETURN_IF_ERROR(infer_readers(*body, changed));
  }
  return {};
}

}  // namespace

Status infer_readers(Graph& graph, std::span<const ValueId> changed) {
  Waiting waiting(graph);
  for (ValueId v : changed) waiting.add_readers(v);
  for (NodeId id = waiting.take(); id != kNone; id = waiting.take()) {
    const GraphNode& node = graph.node(id);
    const std::string place = fmt::format("node '{}' ({})", node.name, op_def(node.op).name);
    TN_RETURN_IF_ERROR(pass_into_bodies(graph, node).in(place));
    auto facts = inferred_facts(graph, node);
    if (!facts.ok()) return std::move(facts).status().in(place);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNone) continue;
      auto is_new = sharpen(graph.value(node.outputs[i]), std::move((*facts)[i]));
      if (!is_new.ok()) return std::move(is_new).status().in(place);
      if (*is_new) waiting.add_readers(node.outputs[i]);
    }
  }
  return {};
}

Status infer_graph(Graph& graph) {
  for (GraphNode& node : graph.nodes()) {
    for (const auto& body : node.bodies) TN_RETURN_IF_ERROR(infer_graph(*body));
    TN_RETURN_IF_ERROR(infer_node(graph, node).in(fmt::format("node '{}' ({})", node.name, op_def(node.op).name)));
  }
  return {};
}

}  // namespace tenon
