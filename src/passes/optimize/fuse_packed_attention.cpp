// Attention with the product that makes queries, keys and values of its input, as onnxruntime's op. The product is one
// with the weights of all three, or, where weights may be stored anew, three with weights of their own.
#include "ir/readers.h"
#include "ops/concat.h"
#include "ops/gemm.h"
#include "ops/split.h"
#include "passes/optimize/attention_layer.h"
#include "passes/optimize/constants.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFusePackedAttention = "fuse_packed_attention";
constexpr std::string_view kPackAttentionWeights = "pack_attention_weights";

// x [batch, length, inputs] times weights [inputs, outputs], and a bias for each output.
struct Projection {
  ValueId x = kNone, weight = kNone, bias = kNone;
};

// Whether weights of these shapes make `rows` of x.
bool is_projection(const Graph& graph, const Projection& p, ValueId rows) {
  const Shape *weight = weight_shape(graph, p.weight), *bias = weight_shape(graph, p.bias);
  const auto& x = graph.value(p.x).type.shape;
  return weight && weight->size() == 2 && bias && *bias == Shape{(*weight)[1]} && x && x->size() == 3 &&
         (*x)[2] == (*weight)[0] && has_shape(graph, rows, {(*x)[0], (*x)[1], (*weight)[1]});
}

// A product of rows, as a MatMul and a sum or as a Gemm of all rows of all sequences.
std::optional<Projection> projection_of(Graph& graph, ValueId rows, std::vector<NodeId>& inside,
                                        std::string_view asker) {
  static const Pattern x = Pattern::any(), weight = Pattern::weight(), bias = Pattern::weight();
  static const Pattern sum = Pattern::op(OpId::Add, {Pattern::op(OpId::MatMul, {x, weight}), bias});
  static const Pattern product =
      Pattern::op(OpId::Gemm, {Pattern::op(OpId::Reshape, {x, Pattern::any()}), weight, bias});
  static const Pattern whole = Pattern::op(OpId::Reshape, {product, Pattern::any()});
  const NodeId maker = graph.value(rows).producer;
  if (maker == kNone) return std::nullopt;
  const auto m = match(graph, graph.node(maker).op == OpId::Reshape ? whole : sum, maker, asker);
  if (!m) return std::nullopt;
  if (m->has(product)) {
    const auto& params = m->params<GemmParams>(product);
    if (params.alpha != 1 || params.beta != 1 || params.transA || params.transB) return std::nullopt;
  }
  const Projection p{(*m)[x], (*m)[weight], (*m)[bias]};
  if (!is_projection(graph, p, rows)) return std::nullopt;
  inside.insert(inside.end(), m->nodes().begin(), m->nodes().end());
  return p;
}

// The product of which queries, keys and values are the parts.
std::optional<Projection> packed(Graph& graph, const AttentionLayer& layer, std::vector<NodeId>& inside) {
  const GraphNode* split = maker(graph, layer.q, OpId::Split);
  if (!split || split->outputs != std::vector{layer.q, layer.k, layer.v}) return std::nullopt;
  const int64_t axis = split->params.get<SplitParams>().axis;
  if (axis != -1 && axis != 2) return std::nullopt;
  inside.push_back(split->id);
  return projection_of(graph, split->inputs[0], inside, kFusePackedAttention);
}

// Three products of one value as one.
std::optional<Projection> joined(Patch& patch, const AttentionLayer& layer, std::vector<NodeId>& inside) {
  std::vector<ValueId> weights, biases;
  ValueId x = kNone;
  for (ValueId part : {layer.q, layer.k, layer.v}) {
    const auto p = projection_of(patch.graph(), part, inside, kPackAttentionWeights);
    if (!p || (x != kNone && p->x != x)) return std::nullopt;
    x = p->x;
    weights.push_back(p->weight);
    biases.push_back(p->bias);
  }
  return Projection{x, patch.op(OpId::Concat, weights, Params::of(ConcatParams{1})),
                    patch.op(OpId::Concat, biases, Params::of(ConcatParams{0}))};
}

// The value that holds all keys and then all values, for the next step; kNone: there is none.
ValueId present_of(Graph& graph, const AttentionLayer& layer, std::vector<NodeId>& inside) {
  static const Pattern keys = Pattern::any(), values = Pattern::any();
  static const Pattern axes = Pattern::any(), more_axes = Pattern::any();
  static const Pattern whole = Pattern::op(
      OpId::Concat, {Pattern::op(OpId::Unsqueeze, {keys, axes}), Pattern::op(OpId::Unsqueeze, {values, more_axes})});
  for (const Use& use : graph.value(layer.keys).uses) {
    if (use.kind != Use::Kind::Input || graph.node(use.node).op != OpId::Unsqueeze) continue;
    for (const Use& next : graph.value(graph.node(use.node).outputs[0]).uses) {
      if (next.kind != Use::Kind::Input || graph.node(next.node).op != OpId::Concat) continue;
      const auto m = match(graph, whole, next.node, kFusePackedAttention);
      const std::vector<int64_t> front{0};
      if (!m || (*m)[keys] != layer.keys || (*m)[values] != layer.values ||
          graph.node(next.node).params.get<ConcatParams>().axis != 0 ||
          known_integers(graph, (*m)[axes], kFusePackedAttention) != front ||
          known_integers(graph, (*m)[more_axes], kFusePackedAttention) != front)
        continue;
      inside.insert(inside.end(), m->nodes().begin(), m->nodes().end());
      return graph.node(next.node).outputs[0];
    }
  }
  return kNone;
}

// What hides scores: as an attribute where only later keys are hidden, else as a summand. A reason when it is neither.
std::optional<std::string> add_mask(NodeMaker& onnx, Patch& patch, const AttentionLayerPattern& pattern, const Match& m,
                                    const AttentionLayer& layer, OnnxNode& node) {
  if (!is_masked(pattern.core, m)) return std::nullopt;
  const ValueId mask = mask_of(patch, pattern.core, m, patch.label());
  if (mask == kNone) return "its mask does not hide scores";
  const MaskFact fact = mask_fact(patch.graph(), pattern.core, m, {layer.scores[2], layer.scores[3]}, patch.label());
  if (fact.is_causal()) {
    node.attributes.push_back(onnx.messages().make_int("unidirectional", 1));
    return std::nullopt;
  }
  const ValueId bias = mask_for(patch, mask, layer.scores, true);
  if (bias == kNone) return "the shape of its mask is not known to fit";
  node.inputs.resize(5, kNone);
  node.inputs.push_back(bias);
  return std::nullopt;
}

Attempt match_packed(NodeMaker& onnx, Graph& graph, NodeId root, std::string_view rule) {
  static const AttentionLayerPattern pattern;
  const auto m = match(graph, pattern.whole, root, rule);
  if (!m) return Attempt::none();
  if (!is_float32(graph, (*m)[pattern.q.x])) return Attempt::no("its elements are not float32");
  AttentionLayer layer;
  if (auto why = read_attention_layer(graph, pattern, *m, rule, layer)) return Attempt::no(std::move(*why));
  auto patch = std::make_unique<Patch>(graph, root, rule);
  patch->set_reason("together the nodes compute com.microsoft.Attention");
  std::vector<NodeId> inside = m->nodes();
  const auto projection = rule == kFusePackedAttention ? packed(graph, layer, inside) : joined(*patch, layer, inside);
  if (!projection) return Attempt::no("no product of one input with weights and a bias is known to make its parts");
  const bool has_widths = (*graph.value(layer.v).type.shape)[2] != (*graph.value(layer.q).type.shape)[2];
  if (has_widths) return Attempt::no("its values are not as wide as its keys");
  OnnxNode node{kMicrosoftDomain,
                "Attention",
                {projection->x, projection->weight, projection->bias},
                {onnx.messages().make_int("num_heads", layer.heads), onnx.messages().make_float("scale", layer.scale)}};
  if (auto why = add_mask(onnx, *patch, pattern, *m, layer, node)) return Attempt::no(std::move(*why));
  std::vector<ValueId> results{graph.node(root).outputs[0]};
  if (layer.past != kNone) {
    node.inputs.resize(std::max<size_t>(node.inputs.size(), 5), kNone);
    node.inputs[4] = layer.past;
    const ValueId present = present_of(graph, layer, inside);
    if (present == kNone) return Attempt::no("nothing holds keys and values for the next step");
    results.push_back(present);
  }
  if (auto why = results.size() > 1 ? objection(graph, inside, {results[1]}) : objection(graph, inside))
    return std::move(*why);
  node.outputs.assign(results.size(), true);
  const auto made = onnx.make(*patch, node);
  for (size_t i = 0; i < results.size(); ++i) patch->redefine(results[i], made[i]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_packed_attention(NodeMaker* onnx) {
  return writing_rule(kFusePackedAttention, {OpId::Reshape}, onnx, [](NodeMaker& maker, Graph& graph, NodeId root) {
    return match_packed(maker, graph, root, kFusePackedAttention);
  });
}

Rule pack_attention_weights(NodeMaker* onnx) {
  return writing_rule(kPackAttentionWeights, {OpId::Reshape}, onnx, [](NodeMaker& maker, Graph& graph, NodeId root) {
    return match_packed(maker, graph, root, kPackAttentionWeights);
  });
}

}  // namespace tenon
