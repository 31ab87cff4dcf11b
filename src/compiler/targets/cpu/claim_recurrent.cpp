#include <algorithm>

#include "compiler/targets/cpu/claim.h"
#include "ops/recurrent.h"

namespace tenon {

namespace {

// The parameters of the layer once its weights are packed.
Params packed_params(const GraphNode& node, int64_t hidden) {
  const auto pack = [&]<class P>(P params) {
    params.common.hidden_size = hidden;
    params.common.weights = RecurrentWeights::Panels;
    return Params::of(std::move(params));
  };
  if (node.op == OpId::RNN) return pack(node.params.get<RNNParams>());
  if (node.op == OpId::GRU) return pack(node.params.get<GRUParams>());
  return pack(node.params.get<LSTMParams>());
}

// [directions, gates * hidden, depth] with known extents of at least one.
bool is_weight(const Graph& graph, ValueId v) {
  const auto& shape = graph.value(v).type.shape;
  return is_float(graph, v) && shape && shape->size() == 3 &&
         std::ranges::all_of(*shape, [](const Dim& d) { return d.is_constant() && d.value() > 0; });
}

// Panels of each gate and direction. Weights that are not constant are packed in every run.
ValueId packed(Patch& patch, ValueId weight, int64_t gates) {
  const Shape shape = *patch.type(weight).shape;
  const int64_t directions = shape[0].value(), rows = shape[1].value(), depth = shape[2].value();
  const ValueId matrix = patch.op(OpId::Reshape, {weight, patch.integers({directions * rows, depth})});
  return patch.op(OpId::PackPanels, {matrix}, Params::of(PackPanelsParams{.groups = directions * gates}));
}

Attempt match_recurrent(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const RecurrentLayer layer = recurrent_layer(node.params);
  if (layer.common.weights == RecurrentWeights::Panels) return Attempt::none();
  std::vector<ValueId> inputs = node.inputs;
  const std::vector<ValueId> results = node.outputs;
  for (const ValueId v : results)
    if (v != kNone && graph.value(v).folds) return Attempt::none();
  if (!is_float(graph, inputs[0])) return Attempt::no("its elements are not float32");
  if (!is_weight(graph, inputs[1]) || !is_weight(graph, inputs[2]))
    return Attempt::no("the shapes of W and R are not known");

  const int64_t hidden = (*graph.value(inputs[2]).type.shape)[2].value();
  Params params = packed_params(node, hidden);
  auto patch = std::make_unique<Patch>(graph, root, "claim_recurrent");
  patch->set_name(node.name);
  for (const size_t i : {1, 2}) inputs[i] = packed(*patch, inputs[i], gate_count(layer.cell));
  const auto made = patch->ops(node.op, std::move(inputs), std::move(params), results.size());
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] != kNone) patch->redefine(results[i], made[i]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule claim_recurrent() { return {"claim_recurrent", {OpId::RNN, OpId::GRU, OpId::LSTM}, match_recurrent}; }

}  // namespace tenon
