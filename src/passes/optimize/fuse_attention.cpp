// Attention of heads [batch, heads, length, size], as the op of ONNX.
#include "ir/readers.h"
#include "ops/attention.h"
#include "passes/optimize/attention_pattern.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/heads.h"
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

// What the op is given.
struct Operands {
  ValueId q = kNone, k = kNone, v = kNone;
  std::optional<Cached> keys, values;  // of which k and v are what follows a past
  std::vector<NodeId> inside;
};

// The op repeats keys and values for groups of queries, and puts a past before them.
Operands operands_of_heads(Patch& patch, const Match& m, const HeadsPattern& pattern) {
  const Graph& graph = patch.graph();
  Operands o{m[pattern.q], keys(patch, m[pattern.k], m.node(pattern.turned)), m[pattern.v], {}, {}, m.nodes()};
  if (o.k != m[pattern.k]) return o;
  auto inside = o.inside;
  const ValueId k = before_repeat(graph, o.k, inside), v = before_repeat(graph, o.v, inside);
  if ((k == o.k) == (v == o.v)) {
    o.k = k;
    o.v = v;
    o.inside = inside;
  }
  const auto past_keys = cached(graph, o.k), past_values = cached(graph, o.v);
  if (!past_keys || !past_values) return o;
  o.inside.insert(o.inside.end(), {past_keys->node, past_values->node});
  o.keys = past_keys;
  o.values = past_values;
  return o;
}

// The shape of the scores, where all have the batch of the queries and their heads, or groups of them; nothing: that is
// not known.
std::optional<Shape> scores_of(const Patch& patch, ValueId q, ValueId k, ValueId v) {
  const auto &query = patch.type(q).shape, &key = patch.type(k).shape, &value = patch.type(v).shape;
  for (const auto* shape : {&query, &key, &value})
    if (!*shape || (*shape)->size() != 4 || (**shape)[0] != (*query)[0]) return std::nullopt;
  if ((*key)[1] != (*value)[1] || (*query)[3] != (*key)[3] || (*key)[2] != (*value)[2]) return std::nullopt;
  const Dim &heads = (*query)[1], &groups = (*key)[1];
  const bool are_groups =
      heads.is_constant() && groups.is_constant() && groups.value() > 0 && heads.value() % groups.value() == 0;
  if (heads != groups && !are_groups) return std::nullopt;
  return Shape{(*query)[0], heads, (*query)[2], (*key)[2]};
}

// The op in the place of the root, and of the keys and values together with the past.
Attempt replaced(std::unique_ptr<Patch> patch, const Operands& o, ValueId mask, AttentionParams params) {
  const Graph& graph = patch->graph();
  const ValueId result = graph.node(patch->root()).outputs[0];
  patch->set_reason("together the nodes compute Attention");
  if (!o.keys) {
    if (auto why = objection(graph, o.inside)) return std::move(*why);
    patch->redefine(result, patch->op(OpId::Attention, {o.q, o.k, o.v, mask}, Params::of(params)));
    return Attempt::of(std::move(patch));
  }
  const ValueId keys = graph.node(o.keys->node).outputs[0], values = graph.node(o.values->node).outputs[0];
  if (auto why = objection(graph, o.inside, {keys, values})) return std::move(*why);
  const auto made =
      patch->ops(OpId::Attention, {o.q, o.keys->fresh, o.values->fresh, mask, o.keys->past, o.values->past},
                 Params::of(params), 3);
  patch->redefine(result, made[0]);
  patch->redefine(keys, made[1]);
  patch->redefine(values, made[2]);
  return Attempt::of(std::move(patch));
}

Attempt match_attention(const NodeMaker* onnx, Graph& graph, NodeId root) {
  static const HeadsPattern pattern;
  const auto m = match(graph, pattern.core.whole, root, kFuseAttention);
  if (!m) return Attempt::none();
  if (onnx && onnx->version("") < kAttentionSince)
    return Attempt::no("the model imports a version of ONNX without Attention");
  if (!is_float32(graph, (*m)[pattern.q])) return Attempt::no("its elements are not float32");
  auto patch = std::make_unique<Patch>(graph, root, kFuseAttention);
  const Operands operands = operands_of_heads(*patch, *m, pattern);
  const auto scores = operands.k == kNone ? std::nullopt : scores_of(*patch, operands.q, operands.k, operands.v);
  if (!scores) return Attempt::no("the shapes of queries, keys and values are not known to fit");
  ValueId mask = kNone;
  if (is_masked(pattern.core, *m)) {
    mask = mask_for(*patch, mask_of(*patch, pattern.core, *m, kFuseAttention), *scores, false);
    if (mask == kNone) return Attempt::no("the shape of its mask is not known to fit, or does not hide scores");
  }
  if (!is_along_keys(pattern.core, *m)) return Attempt::no("its Softmax is not along the keys");
  const auto scale = scale_of(graph, pattern.core, *m, kFuseAttention);
  if (!scale) return Attempt::no("its scale is not known");
  AttentionParams params;
  params.scale = static_cast<float>(*scale);
  return replaced(std::move(patch), operands, mask, params);
}

}  // namespace

Rule fuse_attention(NodeMaker* onnx) {
  return {
      kFuseAttention, {OpId::MatMul}, [=](Graph& graph, NodeId root) { return match_attention(onnx, graph, root); }};
}

}  // namespace tenon
