// Causal attention whose keys and values serve groups of queries, with what turns queries and keys and with the past
// before them, as onnxruntime's op.
#include "ir/readers.h"
#include "ops/cast.h"
#include "ops/rotary_embedding.h"
#include "ops/shape_of.h"
#include "passes/optimize/attention_pattern.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/heads.h"
#include "passes/optimize/permutation.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseGroupQueryAttention = "fuse_group_query_attention";
// What the kernels of onnxruntime ask of the size of a head.
constexpr int64_t kHeadUnit = 8, kRotatedHeadUnit = 16;

struct LayerPattern {
  Pattern q = Pattern::any(), k = Pattern::any(), v = Pattern::any();
  Pattern turned = Pattern::op(OpId::Transpose, {k});
  AttentionCore core{q, turned, v};
  Pattern joined = Pattern::op(OpId::Transpose, {core.whole});
  Pattern whole = Pattern::op(OpId::Reshape, {joined, Pattern::any()});
};

// Where it all comes from.
struct Layer {
  ValueId q = kNone, k = kNone, v = kNone;  // [batch, heads, length, size], of this step
  std::optional<Cached> keys, values;       // with a past before them
  ValueId cosines = kNone, sines = kNone;   // of a rotation that the op takes over
  bool is_interleaved = false;
  Dim batch, length, total;
  Dim heads, kv_heads, size;  // numbers
  std::vector<NodeId> inside;
};

bool is_swap(const Graph& graph, const GraphNode& node, const Permutation& order) {
  return permutation_of(graph, node) == order;
}

// Reads the layer behind the keys and values that the scores are made of. A reason when it is none that the op has.
std::optional<std::string> read_layer(Graph& graph, const Match& m, const LayerPattern& p, Layer& layer) {
  if (!is_swap(graph, m.node(p.turned), {0, 1, 3, 2}) || !is_swap(graph, m.node(p.joined), {0, 2, 1, 3}))
    return "its heads are not arranged as the op has them";
  layer.q = m[p.q];
  layer.k = before_repeat(graph, m[p.k], layer.inside);
  layer.v = before_repeat(graph, m[p.v], layer.inside);
  layer.keys = cached(graph, layer.k);
  layer.values = cached(graph, layer.v);
  if (layer.keys.has_value() != layer.values.has_value()) return "only one of keys and values has a past";
  const Shape *queries = heads_shape(graph, layer.q), *all = heads_shape(graph, layer.k);
  if (layer.keys) {
    layer.inside.insert(layer.inside.end(), {layer.keys->node, layer.values->node});
    layer.k = layer.keys->fresh;
    layer.v = layer.values->fresh;
  }
  const Shape *keys = heads_shape(graph, layer.k), *values = heads_shape(graph, layer.v);
  if (!queries || !all || !keys || !values || *keys != *values) return "its shapes are not known";
  layer.batch = (*queries)[0];
  layer.heads = (*queries)[1];
  layer.length = (*queries)[2];
  layer.size = (*queries)[3];
  layer.kv_heads = (*keys)[1];
  layer.total = (*all)[2];
  if (*keys != Shape{layer.batch, layer.kv_heads, layer.length, layer.size} ||
      layer.heads.value() % layer.kv_heads.value() != 0)
    return "the shapes of queries, keys and values are not known to fit";
  return std::nullopt;
}

std::optional<std::string> past_problem(const Graph& graph, const Layer& layer) {
  if (!layer.keys) return std::nullopt;
  const Shape *keys = heads_shape(graph, layer.keys->past), *values = heads_shape(graph, layer.values->past);
  if (!keys || !values || *keys != *values || *keys != Shape{layer.batch, layer.kv_heads, (*keys)[2], layer.size} ||
      (*keys)[2] + layer.length != layer.total)
    return "the shape of its past is not known to fit";
  // onnxruntime refuses to run several new positions of several sequences behind a past.
  if (layer.batch != Dim(1) && layer.length != Dim(1))
    return "neither one sequence nor one new position is known to be all there is behind a past";
  return std::nullopt;
}

// A rotation by a table whose first row belongs to the first position.
const GraphNode* rotation_of(Graph& graph, ValueId v, const Dim& total) {
  const GraphNode* node = maker(graph, v, OpId::RotaryEmbedding);
  if (!node || node->inputs.size() < 4 || node->params.get<RotaryEmbeddingParams>().rotary_embedding_dim != 0)
    return nullptr;
  const auto first = known_integers(graph, node->inputs[3], kFuseGroupQueryAttention);
  const auto& table = graph.value(node->inputs[1]).type.shape;
  const bool starts = first && first->size() == 1 && first->front() == 0;
  return starts && table && table->size() == 2 && (*table)[0] == total ? node : nullptr;
}

// The op turns queries and keys itself where both are turned alike, and nothing came before.
void take_over_rotation(Graph& graph, Layer& layer) {
  if (layer.keys || layer.size.value() % kRotatedHeadUnit != 0) return;
  const GraphNode *q = rotation_of(graph, layer.q, layer.total), *k = rotation_of(graph, layer.k, layer.total);
  if (!q || !k || q->inputs[1] != k->inputs[1] || q->inputs[2] != k->inputs[2]) return;
  const bool is_interleaved = q->params.get<RotaryEmbeddingParams>().interleaved;
  if (k->params.get<RotaryEmbeddingParams>().interleaved != is_interleaved) return;
  layer.inside.insert(layer.inside.end(), {q->id, k->id});
  layer.cosines = q->inputs[1];
  layer.sines = q->inputs[2];
  layer.is_interleaved = is_interleaved;
  layer.q = q->inputs[0];
  layer.k = k->inputs[0];
}

// --- writing it ---------------------------------------------------------------------------------------------------

ValueId as_int32(Patch& patch, ValueId v) {
  CastParams params;
  params.to = DType::Int32;
  return patch.op(OpId::Cast, {v}, Params::of(params));
}

ValueId int32s(Patch& patch, const std::vector<int32_t>& numbers) {
  return patch.literal(Tensor::of<int32_t>({static_cast<int64_t>(numbers.size())}, numbers));
}

// One extent, as a vector.
ValueId extent(Patch& patch, ValueId v, int64_t axis) {
  const Dim known = (*patch.type(v).shape)[static_cast<size_t>(axis)];
  if (known.is_constant()) return patch.integers({known.value()});
  return patch.op(OpId::Shape, {v}, Params::of(ShapeParams{axis, axis + 1}));
}

struct Lengths {
  ValueId last;   // the last position of each sequence
  ValueId total;  // positions of all of them
};

Lengths lengths_of(Patch& patch, const Layer& layer, ValueId rows) {
  ValueId total;
  if (layer.total.is_constant()) {
    total = int32s(patch, {static_cast<int32_t>(layer.total.value())});
    if (layer.batch.is_constant()) {
      const auto last = static_cast<int32_t>(layer.total.value() - 1);
      return {int32s(patch, std::vector<int32_t>(static_cast<size_t>(layer.batch.value()), last)), total};
    }
  } else {
    ValueId positions = extent(patch, rows, 1);
    if (layer.keys) positions = patch.op(OpId::Add, {positions, extent(patch, layer.keys->past, 2)});
    total = as_int32(patch, positions);
  }
  const ValueId last = patch.op(OpId::Sub, {total, int32s(patch, {1})});
  return {layer.batch == Dim(1) ? last : patch.op(OpId::Expand, {last, extent(patch, rows, 0)}), total};
}

OnnxNode as_node(NodeMaker& onnx, Patch& patch, Layer& layer, double scale, ValueId bias) {
  wire::MessageBuilder& messages = onnx.messages();
  const ValueId q = rows_of(patch, layer.q, layer.inside), k = rows_of(patch, layer.k, layer.inside),
                v = rows_of(patch, layer.v, layer.inside);
  const Lengths lengths = lengths_of(patch, layer, q);
  const ValueId none = kNone;
  OnnxNode node{
      kMicrosoftDomain,
      "GroupQueryAttention",
      {q, k, v, layer.keys ? layer.keys->past : none, layer.keys ? layer.values->past : none, lengths.last,
       lengths.total, layer.cosines, layer.sines, none, bias},
      {messages.make_int("num_heads", layer.heads.value()), messages.make_int("kv_num_heads", layer.kv_heads.value()),
       messages.make_float("scale", static_cast<float>(scale))}};
  if (layer.cosines != kNone) node.attributes.push_back(messages.make_int("do_rotary", 1));
  if (layer.is_interleaved) node.attributes.push_back(messages.make_int("rotary_interleaved", 1));
  return node;
}

// What the mask says beyond hiding what comes later, as a summand of the scores; kNone: nothing. Nothing at all: the op
// cannot say it.
std::optional<ValueId> bias_of(Patch& patch, const LayerPattern& pattern, const Match& m, const Layer& layer,
                               const MaskFact& mask) {
  if (!is_masked(pattern.core, m)) return kNone;
  const ValueId added = mask_of(patch, pattern.core, m, kFuseGroupQueryAttention);
  if (added == kNone) return std::nullopt;
  if (!mask.hides_past) return kNone;
  const ValueId bias = mask_for(patch, added, {layer.batch, layer.heads, layer.length, layer.total}, true);
  return bias == kNone ? std::nullopt : std::optional(bias);
}

// Puts the node in the place of the layer's result, and of its keys and values together with the past.
Attempt replaced(NodeMaker& onnx, std::unique_ptr<Patch> patch, const Layer& layer, OnnxNode node) {
  const Graph& graph = patch->graph();
  std::vector<ValueId> results{graph.node(patch->root()).outputs[0]};
  if (layer.keys) results.push_back(graph.node(layer.keys->node).outputs[0]);
  if (layer.values) results.push_back(graph.node(layer.values->node).outputs[0]);
  const bool has_past = results.size() == 3;
  if (auto why = has_past ? objection(graph, layer.inside, {results[1], results[2]}) : objection(graph, layer.inside))
    return std::move(*why);
  node.outputs.assign(results.size(), true);
  const auto made = onnx.make(*patch, node);
  for (size_t i = 0; i < results.size(); ++i) patch->redefine(results[i], made[i]);
  return Attempt::of(std::move(patch));
}

Attempt match_grouped_layer(NodeMaker& onnx, Graph& graph, NodeId root) {
  static const LayerPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseGroupQueryAttention);
  if (!m) return Attempt::none();
  const ValueId result = graph.node(root).outputs[0];
  if (!is_float32(graph, result)) return Attempt::no("its elements are not float32");
  Layer layer;
  layer.inside = m->nodes();
  if (auto why = read_layer(graph, *m, pattern, layer)) return Attempt::no(std::move(*why));
  if (auto why = past_problem(graph, layer)) return Attempt::no(std::move(*why));
  const auto& joined = graph.value(result).type.shape;
  if (!joined || *joined != Shape{layer.batch, layer.length, layer.heads * layer.size})
    return Attempt::no("the shape of its result is not known to fit");
  if (layer.size.value() % kHeadUnit != 0) return Attempt::no("the size of its heads is not a multiple of 8");
  if (!is_along_keys(pattern.core, *m)) return Attempt::no("its Softmax is not along the keys");
  const MaskFact mask = mask_fact(graph, pattern.core, *m, {layer.length, layer.total}, kFuseGroupQueryAttention);
  if (!mask.hides_future) return Attempt::no("its mask is not known to hide what comes later");
  const auto scale = scale_of(graph, pattern.core, *m, kFuseGroupQueryAttention);
  if (!scale) return Attempt::no("its scale is not known");
  take_over_rotation(graph, layer);
  auto patch = std::make_unique<Patch>(graph, root, kFuseGroupQueryAttention);
  patch->set_reason("together the nodes compute com.microsoft.GroupQueryAttention");
  const auto bias = bias_of(*patch, pattern, *m, layer, mask);
  if (!bias) return Attempt::no("the shape of its mask is not known to fit, or does not hide scores");
  OnnxNode node = as_node(onnx, *patch, layer, *scale, *bias);
  return replaced(onnx, std::move(patch), layer, std::move(node));
}

}  // namespace

Rule fuse_group_query_attention(NodeMaker* onnx) {
  return writing_rule(kFuseGroupQueryAttention, {OpId::Reshape}, onnx, match_grouped_layer);
}

}  // namespace tenon
