// A MatMul of matrices that are transposed before, and its product with a number.
#include <numeric>

#include "ops/transpose.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kTransposeRule = "fuse_matmul_transpose", kScaleRule = "fuse_matmul_scale";

struct ProductPattern {
  Pattern a = Pattern::any(), b = Pattern::any(), factor = Pattern::scalar();
  Pattern turned_a = Pattern::op(OpId::Transpose, {a}), turned_b = Pattern::op(OpId::Transpose, {b});
  Pattern turned =
      Pattern::either({Pattern::op(OpId::MatMul, {turned_a, turned_b}), Pattern::op(OpId::MatMul, {turned_a, b}),
                       Pattern::op(OpId::MatMul, {a, turned_b})});
  Pattern product = Pattern::either({turned, Pattern::op(OpId::MatMul, {a, b})});
  Pattern divided = Pattern::op(OpId::Div, {product, factor});
  Pattern scaled = Pattern::either({Pattern::op(OpId::Mul, {product, factor}), divided});
};

// Whether a Transpose swaps the last two of two or more axes.
bool swaps_last(const Graph& graph, const GraphNode& node) {
  const auto rank = rank_of(graph, node.outputs[0]);
  if (!rank || *rank < 2) return false;
  std::vector<int64_t> wanted(static_cast<size_t>(*rank));
  std::iota(wanted.begin(), wanted.end(), 0);
  std::swap(wanted[wanted.size() - 1], wanted[wanted.size() - 2]);
  const auto& perm = node.params.get<TransposeParams>().perm;
  return perm ? *perm == wanted : *rank == 2;
}

Attempt match_product(NodeMaker& onnx, Graph& graph, NodeId root, std::string_view rule, const Pattern& whole,
                      const ProductPattern& pattern) {
  const auto m = match(graph, whole, root, rule);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId a = (*m)[pattern.a], b = (*m)[pattern.b];
  if (!is_float32(graph, a)) return Attempt::no("its elements are not float32");
  OnnxNode node{kMicrosoftDomain, "FusedMatMul", {a, b}, {}};
  for (const auto& [turned, name] : {std::pair(pattern.turned_a, "transA"), std::pair(pattern.turned_b, "transB")}) {
    if (!m->has(turned)) continue;
    if (!swaps_last(graph, m->node(turned))) return Attempt::no("its transposes do not swap the last two axes");
    node.attributes.push_back(onnx.messages().make_int(name, 1));
  }
  if (m->has(pattern.factor)) {
    const auto factor = number_of(graph, (*m)[pattern.factor], rule);
    if (!factor || rank_of(graph, (*m)[pattern.factor]).value_or(2) > 1) return Attempt::no("its factor is not known");
    const double alpha = m->has(pattern.divided) ? 1 / *factor : *factor;
    node.attributes.push_back(onnx.messages().make_float("alpha", static_cast<float>(alpha)));
  }
  return write_as(onnx, *m, graph, rule, std::move(node), {graph.node(root).outputs[0]});
}

}  // namespace

Rule fuse_matmul_transpose(NodeMaker* onnx) {
  return writing_rule(kTransposeRule, {OpId::MatMul}, onnx, [](NodeMaker& maker, Graph& graph, NodeId root) {
    static const ProductPattern pattern;
    return match_product(maker, graph, root, kTransposeRule, pattern.turned, pattern);
  });
}

Rule fuse_matmul_scale(NodeMaker* onnx) {
  return writing_rule(kScaleRule, {OpId::Mul, OpId::Div}, onnx, [](NodeMaker& maker, Graph& graph, NodeId root) {
    static const ProductPattern pattern;
    return match_product(maker, graph, root, kScaleRule, pattern.scaled, pattern);
  });
}

}  // namespace tenon
