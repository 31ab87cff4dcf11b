#include "ir/readers.h"

namespace tenon {

NodeId only_reader(const Graph& graph, ValueId v) {
  NodeId reader = kNone;
  for (const Use& use : graph.value(v).uses) {
    if (use.kind == Use::Kind::Slot) continue;
    if (use.kind != Use::Kind::Input || reader != kNone) return kNone;
    reader = use.node;
  }
  return reader;
}

std::vector<ValueId> operands_of(const GraphNode& node) {
  std::vector<ValueId> operands = node.inputs;
  for (const auto& body : node.bodies)
    for (const GraphCapture& c : body->captures) operands.push_back(c.outer);
  return operands;
}

const GraphNode* maker(const Graph& graph, ValueId v, OpId op) {
  const NodeId id = v == kNone ? NodeId(kNone) : graph.value(v).producer;
  return id != kNone && graph.node(id).op == op ? &graph.node(id) : nullptr;
}

const Shape* weight_shape(const Graph& graph, ValueId v) {
  if (v == kNone || !graph.value(v).folds) return nullptr;
  const Type& t = graph.value(v).type;
  return t.shape && is_static(*t.shape) ? &*t.shape : nullptr;
}

}  // namespace tenon
