#include "trials/inputs/accepted_values.h"

#include <algorithm>

namespace tenon {

namespace {

using AcceptedValues = Table<ValueId, Accepted>;

// A node with what its outputs may hold.
class ReadingNode final : public AcceptContext {
 public:
  ReadingNode(const Graph& graph, const GraphNode& node, const AcceptedValues& accepted, const KnownDims& dims)
      : AcceptContext(node.params), graph_(graph), node_(node), accepted_(accepted), dims_(dims) {}

  const Type* type(size_t input) const override {
    if (input >= node_.inputs.size() || node_.inputs[input] == kNone) return nullptr;
    return &graph_.value(node_.inputs[input]).type;
  }
  std::optional<double> constant(size_t input) const override;
  Type output_type() const override { return has_output() ? graph_.value(node_.outputs[0]).type : Type{}; }
  Accepted output() const override { return has_output() ? accepted_[node_.outputs[0]] : Accepted{}; }

 private:
  std::optional<int64_t> symbol_value(const std::string& symbol) const override { return dims_(symbol); }
  bool has_output() const { return !node_.outputs.empty() && node_.outputs[0] != kNone; }

  const Graph& graph_;
  const GraphNode& node_;
  const AcceptedValues& accepted_;
  const KnownDims& dims_;
};

std::optional<double> ReadingNode::constant(size_t input) const {
  if (!type(input)) return std::nullopt;
  const Constant* constant = graph_.constant(node_.inputs[input]);
  if (!constant || !constant->may_be_asked() || is_sub_byte(constant->dtype) || constant->dtype == DType::String)
    return std::nullopt;
  const auto tensor = constant->value();
  if (!tensor.ok() || tensor->size() != 1) return std::nullopt;
  return with_element_type(tensor->dtype(), [&](auto tag) -> std::optional<double> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_constructible_v<double, T>) return static_cast<double>(tensor->as<T>()[0]);
    return std::nullopt;
  });
}

AcceptedValues accepted_in(const Graph& graph, AcceptedValues accepted, const KnownDims& dims);

// What bodies accept of the values they capture and of the node's own inputs.
void restrict_by_bodies(const Graph& graph, const GraphNode& node, AcceptedValues& accepted, const KnownDims& dims) {
  for (const auto& body : node.bodies) {
    AcceptedValues inside(body->value_count());
    for (size_t i = 0; node.op == OpId::If && i < body->outputs().size() && i < node.outputs.size(); ++i)
      if (body->outputs()[i] != kNone && node.outputs[i] != kNone)
        inside[body->outputs()[i]] = accepted[node.outputs[i]];
    inside = accepted_in(*body, std::move(inside), dims);
    for (const GraphCapture& c : body->captures) accepted[c.outer].restrict_to(inside[c.inner]);
    // Loop, Scan and SequenceMap hand their inputs to the body, the last ones to the last ones.
    const size_t count = std::min(body->inputs.size(), node.inputs.size());
    for (size_t i = 1; i <= count; ++i) {
      const ValueId outer = node.inputs[node.inputs.size() - i];
      const ValueId inner = body->inputs[body->inputs.size() - i].value;
      if (outer == kNone || graph.value(outer).type.dtype != body->value(inner).type.dtype) continue;
      accepted[outer].restrict_to(inside[inner]);
    }
  }
}

AcceptedValues accepted_in(const Graph& graph, AcceptedValues accepted, const KnownDims& dims) {
  accepted.resize(graph.value_count());
  for (NodeId id = graph.last_node(); id != kNone; id = graph.previous_node(id)) {
    const GraphNode& node = graph.node(id);
    restrict_by_bodies(graph, node, accepted, dims);
    const auto accepts = op_def(node.op).accepts;
    if (!accepts) continue;
    const ReadingNode reader(graph, node, accepted, dims);
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] != kNone) accepted[node.inputs[i]].restrict_to(accepts(reader, i));
  }
  return accepted;
}

}  // namespace

std::vector<Accepted> accepted_inputs(const Graph& graph, const KnownDims& dims) {
  const AcceptedValues accepted = accepted_in(graph, {}, dims);
  std::vector<Accepted> result;
  for (const GraphInput& input : graph.inputs) result.push_back(accepted[input.value]);
  return result;
}

}  // namespace tenon
