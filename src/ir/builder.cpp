#include "ir/builder.h"

#include <algorithm>

#include "ir/infer_node.h"

namespace tenon {

const Type& Builder::type(ValueId v) const {
  static const Type unknown;
  return v == kNone ? unknown : graph_.value(v).type;
}

std::optional<int64_t> Builder::rank(ValueId v) const {
  const Type& t = type(v);
  return t.shape ? std::optional(static_cast<int64_t>(t.shape->size())) : std::nullopt;
}

ValueId Builder::op(OpId op, std::vector<ValueId> inputs, Params params) {
  return ops(op, std::move(inputs), std::move(params), 1)[0];
}

std::vector<ValueId> Builder::ops(OpId op, std::vector<ValueId> inputs, Params params, size_t results, Bodies bodies) {
  GraphNode node;
  node.op = op;
  node.params = params.erased() ? std::move(params) : default_params(op);
  node.inputs = std::move(inputs);
  while (!node.inputs.empty() && node.inputs.back() == kNone) node.inputs.pop_back();
  node.bodies = std::move(bodies);
  node.name = name_;
  node.group = group_;
  node.made_from = made_from_;
  // Rules and kernels count on the outputs an op always has, also where nobody names them.
  results = std::max(results, static_cast<size_t>(op_def(op).outputs.min));
  for (size_t i = 0; i < results; ++i) node.outputs.push_back(graph_.add_value("", Type{}));
  const NodeId id = graph_.add_node(std::move(node));
  if (group_ != kNone) graph_.group(group_).nodes.push_back(id);
  if (status_.ok()) fail(infer_node(graph_, graph_.node(id)));
  place(id);
  return graph_.node(id).outputs;
}

ValueId Builder::literal(const Tensor& tensor, std::string_view attribute) {
  return graph_.value_of(graph_.constants->literal(tensor, attribute));
}

ValueId Builder::scalar(float value, std::string_view attribute) {
  return literal(Tensor::of<float>({}, std::span<const float>(&value, 1)), attribute);
}

void Builder::place(NodeId id) { graph_.place(id); }

void Builder::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

}  // namespace tenon
