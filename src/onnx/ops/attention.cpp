#include "ops/attention.h"

#include "onnx/node_draft.h"

namespace tenon {

namespace {

// What a modifier sub-graph is given.
Type score_type(const ImportNode& n, const FlexAttentionParams& params) {
  const Type &q = n.type(n.input(0)), &k = n.type(n.input(1));
  Type type = Type::tensor(params.precision(q.dtype));
  if (q.shape && k.shape && q.shape->size() == 4 && k.shape->size() == 4)
    type.shape = Shape{(*q.shape)[0], (*q.shape)[1], (*q.shape)[2], (*k.shape)[2]};
  return type;
}

void import_flex_attention(ImportNode& n) {
  FlexAttentionParams params;
  if (n.has_attribute("scale")) params.scale = n.float_attribute("scale", 1.0f);
  if (n.has_attribute("softmax_precision"))
    params.softmax_precision = dtype_from_onnx(n.int_attribute("softmax_precision", 1)).value_or(DType::Undefined);
  std::vector<std::shared_ptr<Graph>> bodies;
  params.has_score_mod = n.has_attribute("score_mod");
  params.has_prob_mod = n.has_attribute("prob_mod");
  if (params.has_score_mod) bodies.push_back(n.body_attribute("score_mod", {score_type(n, params)}));
  if (params.has_prob_mod) bodies.push_back(n.body_attribute("prob_mod", {score_type(n, params)}));
  n.finish(n.emit(OpId::FlexAttention, Params::of(params), n.inputs(), 1, std::move(bodies)));
}

bool write_flex_attention(NodeDraft& d) {
  const auto& params = d.params<FlexAttentionParams>();
  for (const char* name : {"has_score_mod", "has_prob_mod"}) d.remove(name);
  if (params.has_score_mod) d.bodies.emplace_back("score_mod");
  if (params.has_prob_mod) d.bodies.emplace_back("prob_mod");
  return true;
}

}  // namespace

template <>
void onnx_mapping<OpId::Attention>(OnnxMap& map) {
  map.same(kOnnxDomain, "Attention", OpId::Attention).lacks("whole_mask");
}
template <>
void onnx_mapping<OpId::FlexAttention>(OnnxMap& map) {
  map.custom(kPreviewDomain, "FlexAttention", OpId::FlexAttention, import_flex_attention);
  map.way_back(OpId::FlexAttention, kPreviewDomain, "FlexAttention", write_flex_attention);
}
template <>
void onnx_mapping<OpId::RotaryEmbedding>(OnnxMap& map) {
  map.same(kOnnxDomain, "RotaryEmbedding", OpId::RotaryEmbedding).lacks("heads_from_cache");
}
template <>
void onnx_mapping<OpId::LinearAttention>(OnnxMap& map) {
  map.same(kOnnxDomain, "LinearAttention", OpId::LinearAttention)
      .needs("kv_num_heads", 27)
      .needs("q_num_heads", 27)
      .lacks("state_window");
}

}  // namespace tenon
