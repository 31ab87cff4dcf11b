// Attention of heads [batch, heads, length, size], as the op of ONNX.
#include "ir/readers.h"
#include "ops/attention.h"
#include "ops/softmax.h"
#include "passes/optimize/attention_pattern.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/permutation.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseAttention = "fuse_attention";
// The version of ONNX that the op came with.
constexpr int64_t kAttentionSince = 23;

struct HeadsPattern {
  Pattern q = Pattern::any(), k = Pattern::any(), v = Pattern::any();
  Pattern turned = Pattern::op(OpId::Transpose, {k});
  AttentionCore core{q, turned, v};
};

// The keys as [batch, heads, length, size]; kNone: they are turned in another way.
ValueId keys(Patch& patch, ValueId k, const GraphNode& turned) {
  const auto order = permutation_of(patch.graph(), turned);
  if (order == Permutation{0, 1, 3, 2}) return k;
  if (order != Permutation{0, 2, 3, 1}) return kNone;
  return patch.op(OpId::Transpose, {k}, Params::of(TransposeParams{Permutation{0, 2, 1, 3}}));
}

// The shape of the scores, where all have the batch and heads of the queries; nothing: that is not known.
std::optional<Shape> scores_of(const Patch& patch, ValueId q, ValueId k, ValueId v) {
  const auto &query = patch.type(q).shape, &key = patch.type(k).shape, &value = patch.type(v).shape;
  for (const auto* shape : {&query, &key, &value})
    if (!*shape || (*shape)->size() != 4 || (**shape)[0] != (*query)[0] || (**shape)[1] != (*query)[1])
      return std::nullopt;
  if ((*query)[3] != (*key)[3] || (*key)[2] != (*value)[2]) return std::nullopt;
  return Shape{(*query)[0], (*query)[1], (*query)[2], (*key)[2]};
}

Attempt match_attention(const NodeMaker* onnx, Graph& graph, NodeId root) {
  static const HeadsPattern pattern;
  const auto m = match(graph, pattern.core.whole, root, kFuseAttention);
  if (!m) return Attempt::none();
  if (onnx && onnx->version("") < kAttentionSince)
    return Attempt::no("the model imports a version of ONNX without Attention");
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId q = (*m)[pattern.q], v = (*m)[pattern.v];
  if (!is_float32(graph, q)) return Attempt::no("its elements are not float32");
  auto patch = std::make_unique<Patch>(graph, root, kFuseAttention);
  const ValueId k = keys(*patch, (*m)[pattern.k], m->node(pattern.turned));
  const auto scores = k == kNone ? std::nullopt : scores_of(*patch, q, k, v);
  if (!scores) return Attempt::no("the shapes of queries, keys and values are not known to fit");
  ValueId mask = kNone;
  if (is_masked(pattern.core, *m)) {
    mask = mask_for(*patch, mask_of(*patch, pattern.core, *m, kFuseAttention), *scores, false);
    if (mask == kNone) return Attempt::no("the shape of its mask is not known to fit, or does not hide scores");
  }
  if (const int64_t axis = m->params<SoftmaxParams>(pattern.core.softmax).axis; axis != -1 && axis != 3)
    return Attempt::no("its Softmax is not along the keys");
  const auto scale = scale_of(graph, pattern.core, *m, kFuseAttention);
  if (!scale) return Attempt::no("its scale is not known");
  AttentionParams params;
  params.scale = static_cast<float>(*scale);
  patch->set_reason("together the nodes compute Attention");
  patch->redefine(graph.node(root).outputs[0], patch->op(OpId::Attention, {q, k, v, mask}, Params::of(params)));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_attention(NodeMaker* onnx) {
  return {
      kFuseAttention, {OpId::MatMul}, [=](Graph& graph, NodeId root) { return match_attention(onnx, graph, root); }};
}

}  // namespace tenon
