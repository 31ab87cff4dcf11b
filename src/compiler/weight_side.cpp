#include "compiler/weight_side.h"

#include <algorithm>

#include "compiler/exact_ops.h"

namespace tenon {

namespace {

// Packing is what a kernel asked for, however large the result is.
bool is_packing(OpId op) { return op == OpId::PackPanels; }

}  // namespace

WeightSide::WeightSide(const Graph& graph, bool move_nodes)
    : graph_(graph), producer_(graph.values.size(), kNone), held_(graph.values.size(), false),
      slot_(graph.values.size(), false), constants_(graph.values.size()) {
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].constant == kNone) continue;
    held_[v] = slot_[v] = true;
    constants_[v] = {static_cast<ValueId>(v)};
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId v : graph.nodes[n].outputs)
      if (v != kNone) producer_[static_cast<size_t>(v)] = static_cast<NodeId>(n);
    if (move_nodes) hold_results(static_cast<NodeId>(n));
  }
}

void WeightSide::hold_results(NodeId id) {
  const GraphNode& node = graph_.nodes[static_cast<size_t>(id)];
  const DType result =
      node.outputs.empty() || node.outputs[0] == kNone ? DType::Undefined : graph_.value(node.outputs[0]).type.dtype;
  if (!is_exact_op(node.op, result) || !node.bodies.empty()) return;
  std::vector<ValueId> from;
  for (ValueId v : node.inputs) {
    if (v == kNone) continue;
    if (!holds(v)) return;
    const auto& more = constants_[static_cast<size_t>(v)];
    from.insert(from.end(), more.begin(), more.end());
  }
  if (from.empty()) return;
  std::ranges::sort(from);
  from.erase(std::unique(from.begin(), from.end()), from.end());
  int64_t available = 0;
  for (ValueId v : from) available += bytes(v);
  for (ValueId v : node.outputs) {
    if (v == kNone || bytes(v) < 0) continue;
    held_[static_cast<size_t>(v)] = true;
    slot_[static_cast<size_t>(v)] = is_packing(node.op) || bytes(v) <= available;
    constants_[static_cast<size_t>(v)] = from;
  }
}

// -1 when it is not known, or not a matter of bytes.
int64_t WeightSide::bytes(ValueId v) const {
  const Type& type = graph_.value(v).type;
  if (!type.is_tensor() || type.dtype == DType::Undefined || type.dtype == DType::String) return -1;
  if (!type.shape || !is_static(*type.shape)) return -1;
  return storage_bytes(type.dtype, element_count(*type.shape).value()).value_or(-1);
}

std::vector<NodeId> WeightSide::nodes_of(ValueId v) const {
  std::vector<NodeId> found;
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    const NodeId producer = producer_[static_cast<size_t>(open.back())];
    open.pop_back();
    if (producer == kNone || std::ranges::find(found, producer) != found.end()) continue;
    found.push_back(producer);
    for (ValueId input : graph_.nodes[static_cast<size_t>(producer)].inputs)
      if (input != kNone) open.push_back(input);
  }
  std::ranges::sort(found);  // nodes are in data-flow order
  return found;
}

}  // namespace tenon
