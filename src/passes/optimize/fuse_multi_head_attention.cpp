// Attention from [batch, length, heads * size] to the same, with the splitting into heads, as onnxruntime's op.
#include "passes/optimize/attention_layer.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/write_as.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseMultiHeadAttention = "fuse_multi_head_attention";

Attempt match_layer(NodeMaker& onnx, Graph& graph, NodeId root) {
  static const AttentionLayerPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseMultiHeadAttention);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  if (!is_float32(graph, (*m)[pattern.q.x])) return Attempt::no("its elements are not float32");
  AttentionLayer layer;
  if (auto why = read_attention_layer(graph, pattern, *m, kFuseMultiHeadAttention, layer))
    return Attempt::no(std::move(*why));
  if (layer.past != kNone) return Attempt::no("its past holds keys and values together");
  auto patch = std::make_unique<Patch>(graph, root, kFuseMultiHeadAttention);
  patch->set_reason("together the nodes compute com.microsoft.MultiHeadAttention");
  OnnxNode node{kMicrosoftDomain,
                "MultiHeadAttention",
                {layer.q, layer.k, layer.v},
                {onnx.messages().make_int("num_heads", layer.heads), onnx.messages().make_float("scale", layer.scale)}};
  if (is_masked(pattern.core, *m)) {
    const ValueId mask = mask_of(*patch, pattern.core, *m, kFuseMultiHeadAttention);
    const ValueId bias = mask_for(*patch, mask, layer.scores, true);
    if (bias == kNone) return Attempt::no("the shape of its mask is not known to fit, or does not hide scores");
    node.inputs.insert(node.inputs.end(), {kNone, kNone, bias});
  }
  patch->redefine(graph.node(root).outputs[0], onnx.make(*patch, node)[0]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_multi_head_attention(NodeMaker* onnx) {
  return writing_rule(kFuseMultiHeadAttention, {OpId::Reshape}, onnx, match_layer);
}

}  // namespace tenon
