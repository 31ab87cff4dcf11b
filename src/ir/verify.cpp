#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/infer_node.h"

namespace tenon {

namespace {

Status broken(const GraphNode& node, std::string what) {
  return error(Code::Internal, "{}", std::move(what))
      .in(fmt::format("node '{}' ({})", node.name, op_def(node.op).name));
}

bool has_use(const GraphValue& value, const Use& use) { return std::ranges::count(value.uses, use) > 0; }

class Verification {
 public:
  explicit Verification(const Graph& graph) : graph_(graph) {}

  Status node(const GraphNode& node) const {
    if (!node.is_placed()) return broken(node, "is not in the graph");
    if (!node.params.holds(*op_def(node.op).params_type))
      return broken(node, "has parameters that belong to another op");
    if (!node.inputs.empty() && node.inputs.back() == kNone) return broken(node, "has an absent last input");
    for (uint32_t i = 0; i < node.inputs.size(); ++i) TN_RETURN_IF_ERROR(input(node, i));
    for (uint32_t b = 0; b < node.bodies.size(); ++b) TN_RETURN_IF_ERROR(body(node, b));
    for (ValueId v : node.outputs) {
      if (v == kNone) continue;
      if (!graph_.values().has(v)) return broken(node, "produces a value that does not exist");
      if (graph_.value(v).producer != node.id) return broken(node, "produces a value that another node also produces");
      if (graph_.value(v).constant != kNone) return broken(node, "produces a constant");
    }
    return facts(node);
  }

  // Who reads a value is in its list, and nobody else.
  Status uses() const {
    std::map<ValueId, size_t> count;
    for (const GraphNode& node : graph_.nodes()) {
      for (ValueId v : node.inputs)
        if (v != kNone) ++count[v];
      for (const auto& body : node.bodies)
        for (const GraphCapture& c : body->captures) ++count[c.outer];
    }
    for (ValueId v : graph_.outputs())
      if (v != kNone) ++count[v];
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const ValueId v(i);
      const auto& uses = graph_.value(v).uses;
      const auto readers =
          static_cast<size_t>(std::ranges::count_if(uses, [](const Use& use) { return use.kind != Use::Kind::Slot; }));
      if (readers != count[v])
        return error(Code::Internal, "value {} '{}' has {} readers, but its list has {}", i, graph_.value(v).name,
                     count[v], readers);
    }
    return {};
  }

  // A value is an input, a capture, a constant or the result of one node.
  Status definitions() const {
    std::map<ValueId, int> count;
    for (const GraphInput& input : graph_.inputs) ++count[input.value];
    for (const GraphCapture& c : graph_.captures) ++count[c.inner];
    for (const GraphNode& node : graph_.nodes()) {
      for (ValueId v : node.outputs)
        if (v != kNone) ++count[v];
    }
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const GraphValue& value = graph_.value(ValueId(i));
      const int definitions = count[ValueId(i)] + (value.constant != kNone ? 1 : 0);
      if (definitions > 1 || (definitions == 0 && !value.uses.empty()))
        return error(Code::Internal, "value {} '{}' has {} definitions", i, value.name, definitions);
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      if (graph_.outputs()[i] == kNone)
        return error(Code::Internal, "output '{}' does not refer to a value", graph_.output_names()[i]);
    return {};
  }

 private:
  Status operand(const GraphNode& node, ValueId v, const Use& use) const {
    if (!graph_.values().has(v)) return broken(node, "reads a value that does not exist");
    const GraphValue& value = graph_.value(v);
    if (!has_use(value, use)) return broken(node, fmt::format("is not in the list of readers of '{}'", value.name));
    if (value.producer != kNone &&
        !(graph_.node(value.producer).is_placed() && graph_.is_before(value.producer, node.id)))
      return broken(node, fmt::format("reads '{}' before it is produced", value.name));
    return {};
  }

  Status input(const GraphNode& node, uint32_t i) const {
    return node.inputs[i] == kNone ? Status() : operand(node, node.inputs[i], {Use::Kind::Input, node.id, kNone, i});
  }

  Status body(const GraphNode& node, uint32_t b) const {
    for (const GraphCapture& c : node.bodies[b]->captures) {
      TN_RETURN_IF_ERROR(operand(node, c.outer, {Use::Kind::Capture, node.id, kNone, b}));
      if (!node.bodies[b]->values().has(c.inner))
        return broken(node, "has a body that captures into a value it does not have");
    }
    return {};
  }

  // Inference knows nothing that the graph does not, and contradicts nothing.
  Status facts(const GraphNode& node) const {
    auto facts = inferred_facts(const_cast<Graph&>(graph_), node);
    if (!facts.ok()) return broken(node, facts.status().to_string());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNone) continue;
      const GraphValue& value = graph_.value(node.outputs[i]);
      const auto both = merge(value.type, (*facts)[i].type);
      if (!both)
        return broken(node, fmt::format("'{}' is {}, but inference gives {}", value.name, value.type.to_string(),
                                        (*facts)[i].type.to_string()));
      if (value.folds != (*facts)[i].folds)
        return broken(node, fmt::format("the mark whether '{}' depends on weights alone is out of date", value.name));
    }
    return {};
  }

  const Graph& graph_;
};

}  // namespace

Status verify_nodes(const Graph& graph, std::span<const NodeId> nodes) {
  const Verification verification(graph);
  for (NodeId id : nodes) TN_RETURN_IF_ERROR(verification.node(graph.node(id)));
  return {};
}

Status verify(const Graph& graph) {
  const Verification verification(graph);
  TN_RETURN_IF_ERROR(verification.uses());
  TN_RETURN_IF_ERROR(verification.definitions());
  for (const GraphNode& node : graph.nodes()) {
    TN_RETURN_IF_ERROR(verification.node(node));
    for (const auto& body : node.bodies)
      TN_RETURN_IF_ERROR(verify(*body).in(fmt::format("body of node '{}'", node.name)));
  }
  return {};
}

}  // namespace tenon
