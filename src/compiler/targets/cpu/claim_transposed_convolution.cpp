#include "compiler/targets/cpu/claim.h"

namespace tenon {

namespace {

Attempt match_transposed_convolution(Graph& graph, NodeId root, bool exact) {
  const GraphNode& node = graph.node(root);
  if (graph.value(node.outputs[0]).folds) return Attempt::none();
  const ValueId weight = node.inputs[1];
  const Shape* shape = float_weight_shape(graph, weight);
  if (!shape || shape->size() < 3 || shape->size() > 5) return Attempt::no(why_no_weight(graph, weight));
  if (element_count(*shape).equals(0)) return Attempt::no("its weight is empty");
  auto [patch, claim] = begin_claim(graph, root, "claim_transposed_convolution");
  claim.keeps_weight = exact;
  if (!is_float(graph, claim.x)) return Attempt::no("its input is not a float32 tensor");
  if (!take_bias_input(graph, claim, node)) return Attempt::no("its bias does not depend on constants alone");
  PackedConvTransposeParams params{.conv = node.params.get<ConvTransposeParams>()};
  params.output_channels = (*shape)[1].value() * params.conv.group;
  params.conv.window.kernel_shape.clear();
  for (size_t i = 2; i < shape->size(); ++i) params.conv.window.kernel_shape.push_back((*shape)[i].value());
  claim.outputs = params.output_channels;
  claim.rank = shape->size();
  claim.channel_from_end = static_cast<int>(shape->size()) - 1;

  extend_claim(*patch, claim);
  params.activation = claim.activation;
  const PackPanelsParams packing{.source = WeightOrder::InputsFirst, .groups = params.conv.group};
  const ValueId packed = patch->op(OpId::PackPanels, {weight, claim.scale}, Params::of(packing));
  emit_kernel(*patch, claim, OpId::PackedConvTranspose, Params::of(std::move(params)), packed);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule claim_transposed_convolution(bool exact) {
  return {"claim_transposed_convolution", {OpId::ConvTranspose}, [exact](Graph& graph, NodeId root) {
            return match_transposed_convolution(graph, root, exact);
          }};
}

}  // namespace tenon
