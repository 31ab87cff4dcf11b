// A product of integers with an operand that is quantized on the way, scaled back to float32, and a sum with a bias.
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseDynamicQuantizeMatmul = "fuse_dynamic_quantize_matmul";

struct QuantizedProductPattern {
  Pattern x = Pattern::any(), weight = Pattern::weight(), zero = Pattern::weight(), scale = Pattern::weight();
  Pattern bias = Pattern::weight();
  Pattern quantized = Pattern::op(OpId::DynamicQuantizeLinear, {x});
  Pattern product = Pattern::op(OpId::MatMulInteger, {quantized, weight, quantized.result(2), maybe(zero)});
  Pattern real = Pattern::op(
      OpId::Mul, {Pattern::op(OpId::Cast, {product}), Pattern::op(OpId::Mul, {quantized.result(1), scale})});
  Pattern whole = Pattern::op(OpId::Add, {real, bias});
};

Attempt match_quantized_product(NodeMaker& onnx, Graph& graph, NodeId root) {
  static const QuantizedProductPattern pattern;
  const bool has_bias = graph.node(root).op == OpId::Add;
  const auto m = match(graph, has_bias ? pattern.whole : pattern.real, root, kFuseDynamicQuantizeMatmul);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId result = graph.node(root).outputs[0];
  if (!is_float32(graph, result)) return Attempt::no("its elements are not float32");
  return write_as(onnx, *m, graph, kFuseDynamicQuantizeMatmul,
                  {kMicrosoftDomain,
                   "DynamicQuantizeMatMul",
                   {(*m)[pattern.x], (*m)[pattern.weight], (*m)[pattern.scale], (*m)[pattern.zero], (*m)[pattern.bias]},
                   {}},
                  {result});
}

}  // namespace

Rule fuse_dynamic_quantize_matmul(NodeMaker* onnx) {
  return writing_rule(kFuseDynamicQuantizeMatmul, {OpId::Mul, OpId::Add}, onnx, match_quantized_product);
}

}  // namespace tenon
