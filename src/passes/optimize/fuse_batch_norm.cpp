// A BatchNormalization of a product with weights.
#include "ir/readers.h"
#include "ops/normalization.h"
#include "passes/optimize/fold_affine.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

// The factor and the summand of a normalization.
ChannelAffine affine_of(Patch& patch, const GraphNode& node) {
  const float epsilon = node.params.get<BatchNormalizationParams>().epsilon;
  const ValueId scale = node.inputs[1], bias = node.inputs[2], mean = node.inputs[3], variance = node.inputs[4];
  ValueId shift = patch.scalar(epsilon);
  if (patch.type(variance).dtype == DType::Float64) {
    const double wide = epsilon;
    shift = patch.literal(Tensor::of<double>({}, std::span(&wide, 1)));
  }
  const ValueId deviation = patch.op(OpId::Sqrt, {patch.op(OpId::Add, {variance, shift})});
  const ValueId factor = patch.op(OpId::Div, {scale, deviation});
  return {factor, patch.op(OpId::Sub, {bias, patch.op(OpId::Mul, {mean, factor})})};
}

Attempt match_batch_norm(Graph& graph, NodeId root, std::string_view rule, bool of_convolutions) {
  const GraphNode& node = graph.node(root);
  const ValueId product_value = node.inputs[0];
  const auto product = WeightedProduct::of(graph, product_value);
  if (!product || (graph.node(product->node).op == OpId::Conv) != of_convolutions) return Attempt::none();
  if (node.params.get<BatchNormalizationParams>().training_mode) return Attempt::none();
  if (only_reader(graph, product_value) != root) return Attempt::no("something else reads its input as well");
  if (product->axis != 1) return Attempt::no("the channels of the product are not those of the normalization");
  for (size_t i = 1; i < 5; ++i) {
    const Shape* shape = weight_shape(graph, node.inputs[i]);
    if (!shape || *shape != Shape{Dim(product->channels)} ||
        graph.value(node.inputs[i]).type.dtype != graph.value(product->weight).type.dtype)
      return Attempt::no("its parameters are not weights with one number for each channel");
  }
  auto patch = std::make_unique<Patch>(graph, root, rule);
  patch->set_reason("the weights before it are scaled and shifted instead");
  patch->redefine(node.outputs[0], fold_affine(*patch, *product, affine_of(*patch, node)));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_conv_bn() {
  return {"fuse_conv_bn", {OpId::BatchNormalization}, [](Graph& graph, NodeId root) {
            return match_batch_norm(graph, root, "fuse_conv_bn", true);
          }};
}

Rule fuse_matmul_bn() {
  return {"fuse_matmul_bn", {OpId::BatchNormalization}, [](Graph& graph, NodeId root) {
            return match_batch_norm(graph, root, "fuse_matmul_bn", false);
          }};
}

}  // namespace tenon
