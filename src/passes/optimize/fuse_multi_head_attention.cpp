// Attention from [batch, length, heads * size] to the same, with the splitting into heads, as onnxruntime's op.
#include "ir/readers.h"
#include "ops/softmax.h"
#include "passes/normalize/same_value.h"
#include "passes/optimize/attention_pattern.h"
#include "passes/optimize/permutation.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseMultiHeadAttention = "fuse_multi_head_attention";

// What is split into heads: [batch, length, heads * size] -> [batch, length, heads, size] -> with the heads in front.
struct Split {
  Pattern x = Pattern::any();
  Pattern parts = Pattern::op(OpId::Reshape, {x, Pattern::any()});
  Pattern heads = Pattern::op(OpId::Transpose, {parts});
};

struct LayerPattern {
  Split q, k, v;
  Pattern turned = Pattern::op(OpId::Transpose, {k.heads});
  AttentionCore core{q.heads, Pattern::either({turned, k.heads}), v.heads};
  Pattern joined = Pattern::op(OpId::Transpose, {core.whole});
  Pattern whole = Pattern::op(OpId::Reshape, {joined, Pattern::any()});
};

// The number of heads that a value is split into, if it is known to be split evenly.
std::optional<int64_t> heads_of(const Graph& graph, const Match& m, const Split& split) {
  const auto &whole = graph.value(m[split.x]).type.shape, &parts = graph.value(m[split.parts]).type.shape;
  if (!whole || !parts || whole->size() != 3 || parts->size() != 4) return std::nullopt;
  const Dim &heads = (*parts)[2], &size = (*parts)[3];
  const bool is_even = heads.is_constant() && size.is_constant() && heads * size == (*whole)[2];
  if (!is_even || (*parts)[0] != (*whole)[0] || (*parts)[1] != (*whole)[1]) return std::nullopt;
  return heads.value();
}

bool is_order(const Graph& graph, const GraphNode& node, const Permutation& order) {
  return permutation_of(graph, node) == order;
}

bool orders_fit(const Graph& graph, const Match& m, const LayerPattern& p) {
  const Permutation swap{0, 2, 1, 3};
  const bool keys = m.has(p.turned)
                        ? is_order(graph, m.node(p.k.heads), swap) && is_order(graph, m.node(p.turned), {0, 1, 3, 2})
                        : is_order(graph, m.node(p.k.heads), {0, 2, 3, 1});
  return keys && is_order(graph, m.node(p.q.heads), swap) && is_order(graph, m.node(p.v.heads), swap) &&
         is_order(graph, m.node(p.joined), swap);
}

Attempt match_layer(NodeMaker& onnx, Graph& graph, NodeId root) {
  static const LayerPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseMultiHeadAttention);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId q = (*m)[pattern.q.x], k = (*m)[pattern.k.x], v = (*m)[pattern.v.x],
                result = graph.node(root).outputs[0];
  if (!is_float32(graph, q)) return Attempt::no("its elements are not float32");
  const auto heads = heads_of(graph, *m, pattern.q);
  if (!heads || heads_of(graph, *m, pattern.k) != heads || heads_of(graph, *m, pattern.v) != heads ||
      !orders_fit(graph, *m, pattern))
    return Attempt::no("queries, keys and values are not known to be split into the same heads");
  const Shape &query = *graph.value(q).type.shape, &key = *graph.value(k).type.shape,
              &value = *graph.value(v).type.shape;
  const auto& joined = graph.value(result).type.shape;
  if (query[0] != key[0] || key[0] != value[0] || key[1] != value[1] || query[2] != key[2] || !joined ||
      *joined != Shape{query[0], query[1], value[2]})
    return Attempt::no("the shapes of queries, keys and values are not known to fit");
  if (const int64_t axis = m->params<SoftmaxParams>(pattern.core.softmax).axis; axis != -1 && axis != 3)
    return Attempt::no("its Softmax is not along the keys");
  const auto scale = scale_of(graph, pattern.core, *m, kFuseMultiHeadAttention);
  if (!scale) return Attempt::no("its scale is not known");
  auto patch = std::make_unique<Patch>(graph, root, kFuseMultiHeadAttention);
  patch->set_reason("together the nodes compute com.microsoft.MultiHeadAttention");
  OnnxNode node{
      kMicrosoftDomain,
      "MultiHeadAttention",
      {q, k, v},
      {onnx.messages().make_int("num_heads", *heads), onnx.messages().make_float("scale", static_cast<float>(*scale))}};
  if (is_masked(pattern.core, *m)) {
    const ValueId mask = mask_of(*patch, pattern.core, *m, kFuseMultiHeadAttention);
    const ValueId bias = mask_for(*patch, mask, {query[0], Dim(*heads), query[1], key[1]}, true);
    if (bias == kNone) return Attempt::no("the shape of its mask is not known to fit, or does not hide scores");
    node.inputs.insert(node.inputs.end(), {kNone, kNone, bias});
  }
  patch->redefine(result, onnx.make(*patch, node)[0]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_multi_head_attention(NodeMaker* onnx) {
  return writing_rule(kFuseMultiHeadAttention, {OpId::Reshape}, onnx, match_layer);
}

}  // namespace tenon
