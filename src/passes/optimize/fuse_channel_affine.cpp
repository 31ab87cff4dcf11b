// Multiplying or adding one weight for each channel behind a product with weights.
#include "ir/readers.h"
#include "passes/optimize/fold_affine.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

enum class Products : uint8_t { Convolutions, Matrices };

ChannelAffine affine_of(Patch& patch, OpId op, ValueId vector) {
  const auto one = [&] {
    const double wide = 1;
    return patch.type(vector).dtype == DType::Float64 ? patch.literal(Tensor::of<double>({}, std::span(&wide, 1)))
                                                      : patch.scalar(1);
  };
  if (op == OpId::Mul) return {vector, kNone};
  if (op == OpId::Div) return {patch.op(OpId::Div, {one(), vector}), kNone};
  return {kNone, op == OpId::Sub ? patch.op(OpId::Neg, {vector}) : vector};
}

// The operand of a node that a product makes; Sub and Div take one as their first alone.
std::optional<size_t> product_operand(const Graph& graph, const GraphNode& node, Products products) {
  for (size_t i = 0; i < 2; ++i) {
    if (i == 1 && (node.op == OpId::Sub || node.op == OpId::Div)) break;
    const auto product = WeightedProduct::of(graph, node.inputs[i]);
    if (product && (graph.node(product->node).op == OpId::Conv) == (products == Products::Convolutions)) return i;
  }
  return std::nullopt;
}

Attempt match_affine(Graph& graph, NodeId root, std::string_view rule, Products products) {
  const GraphNode& node = graph.node(root);
  const auto at = product_operand(graph, node, products);
  if (!at) return Attempt::none();
  const ValueId value = node.inputs[*at], operand = node.inputs[1 - *at];
  const WeightedProduct product = *WeightedProduct::of(graph, value);
  const bool adds = node.op == OpId::Add || node.op == OpId::Sub;
  if (adds && graph.node(product.node).op == OpId::MatMul) return Attempt::none();  // a Gemm would be another op
  if (only_reader(graph, value) != root) return Attempt::no("something else reads its input as well");
  auto patch = std::make_unique<Patch>(graph, root, rule);
  patch->set_reason(adds ? "the bias before it is shifted instead" : "the weights before it are scaled instead");
  const ValueId vector = channel_vector(*patch, product, operand);
  if (vector == kNone) return Attempt::no("its other operand is not a weight with one number for each channel");
  patch->redefine(node.outputs[0], fold_affine(*patch, product, affine_of(*patch, node.op, vector)));
  return Attempt::of(std::move(patch));
}

Rule affine_rule(std::string_view name, std::vector<OpId> roots, Products products) {
  return {name, std::move(roots), [=](Graph& graph, NodeId root) { return match_affine(graph, root, name, products); }};
}

}  // namespace

Rule fuse_conv_mul() { return affine_rule("fuse_conv_mul", {OpId::Mul, OpId::Div}, Products::Convolutions); }
Rule fuse_conv_add() { return affine_rule("fuse_conv_add", {OpId::Add, OpId::Sub}, Products::Convolutions); }
Rule fuse_matmul_mul() { return affine_rule("fuse_matmul_mul", {OpId::Mul, OpId::Div}, Products::Matrices); }
Rule fuse_gemm_add() { return affine_rule("fuse_gemm_add", {OpId::Add, OpId::Sub}, Products::Matrices); }

}  // namespace tenon
