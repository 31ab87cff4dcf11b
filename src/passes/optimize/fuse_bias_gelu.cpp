// A Gelu of x + bias, where the bias is a vector as long as the last axis.
#include "ops/activation.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseBiasGelu = "fuse_bias_gelu";

struct BiasGeluPattern {
  Pattern x = Pattern::any(), bias = Pattern::weight();
  Pattern whole = Pattern::op(OpId::Gelu, {Pattern::op(OpId::Add, {x, bias})});
};

Attempt match_bias_gelu(NodeMaker& onnx, Graph& graph, NodeId root) {
  static const BiasGeluPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseBiasGelu);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId x = (*m)[pattern.x], bias = (*m)[pattern.bias];
  if (!is_float32(graph, x)) return Attempt::no("its elements are not float32");
  if (!is_tail_of(graph, bias, x, -1))
    return Attempt::no("the bias is not known to be a vector as long as the last axis");
  const bool by_tanh = graph.node(root).params.get<GeluParams>().approximate == "tanh";
  return write_as(onnx, *m, graph, kFuseBiasGelu, {kMicrosoftDomain, by_tanh ? "FastGelu" : "BiasGelu", {x, bias}, {}},
                  {graph.node(root).outputs[0]});
}

}  // namespace

Rule fuse_bias_gelu(NodeMaker* onnx) { return writing_rule(kFuseBiasGelu, {OpId::Gelu}, onnx, match_bias_gelu); }

}  // namespace tenon
