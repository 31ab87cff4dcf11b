// Transposed convolutions have no kernel of their own; what is gained is what can be folded into the weight.
#include "compiler/targets/cpu/claim.h"

namespace tenon {

namespace {

// The weight [inputs, outputs / group, ...] with each output channel scaled.
ValueId scaled_weight(Patch& patch, const Claim& claim, ValueId weight, int64_t group) {
  if (claim.scale == kNone) return weight;
  const Shape shape = *patch.type(weight).shape;
  std::vector<int64_t> original, grouped{group, shape[0].value() / group}, factors{group, 1, claim.outputs / group};
  for (const Dim& d : shape) original.push_back(d.value());
  grouped.insert(grouped.end(), original.begin() + 1, original.end());
  factors.resize(grouped.size(), 1);
  const auto reshape = [&](ValueId v, const std::vector<int64_t>& dims) {
    return patch.op(OpId::Reshape, {v, patch.integers(dims)});
  };
  const ValueId scaled = patch.op(OpId::Mul, {reshape(weight, grouped), reshape(claim.scale, factors)});
  return reshape(scaled, original);
}

Attempt match_transposed_convolution(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (graph.value(node.outputs[0]).folds) return Attempt::none();
  const Shape* shape = float_weight_shape(graph, node.inputs[1]);
  if (!shape || shape->size() < 3) return Attempt::no(why_no_weight(graph, node.inputs[1]));
  auto [patch, claim] = begin_claim(graph, root, "claim_transposed_convolution");
  const auto& params = node.params.get<ConvTransposeParams>();
  claim.takes_activation = false;
  claim.outputs = (*shape)[1].value() * params.group;
  claim.rank = shape->size();
  claim.channel_from_end = static_cast<int>(shape->size()) - 1;
  if (!is_float(graph, claim.x) || claim.outputs == 0 || !take_bias_input(graph, claim, node)) return Attempt::none();
  extend_claim(*patch, claim);
  if (claim.nodes.size() == 1) return Attempt::none();
  emit_kernel(*patch, claim, OpId::ConvTranspose, Params::of(params),
              scaled_weight(*patch, claim, node.inputs[1], params.group));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule claim_transposed_convolution() {
  return {"claim_transposed_convolution", {OpId::ConvTranspose}, match_transposed_convolution};
}

}  // namespace tenon
