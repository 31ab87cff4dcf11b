// What stands around attention: positions, running states and their gates.
#include "onnx/node_draft.h"
#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/rotary_embedding.h"

namespace tenon {

namespace {

// The decay and the update rate of a LinearAttention, in float32.
void import_linear_attention_gate(ImportNode& n) {
  const DType dtype = n.type(n.input(0)).dtype;
  if (dtype == DType::Undefined) return n.fail(unsupported("LinearAttentionGate needs an input of a known type"));
  const ValueId biased = emit::add(n, emit::cast(n, n.input(0), DType::Float32), n.input(1));
  const ValueId decay = emit::plain(n, OpId::Mul, emit::plain(n, OpId::Softplus, biased), n.input(2));
  const ValueId rate = n.input(3) == kNone ? kNone : emit::plain(n, OpId::Sigmoid, n.input(3));
  if (n.output_count() > 1 && !n.node().outputs[1].empty() && rate == kNone)
    return n.fail(invalid_model("the output 'beta' needs the input 'b'"));
  n.finish({emit::cast(n, decay, dtype), rate});
}

void import_rotary_embedding(ImportNode& n) {
  RotaryEmbeddingParams params;
  params.interleaved = n.int_attribute("interleaved", 0) != 0;
  params.num_heads = n.int_attribute("num_heads", 0);
  params.rotary_embedding_dim = n.int_attribute("rotary_embedding_dim", 0);
  params.heads_from_cache = true;
  // The scale is for making caches longer than they are, which nobody does.
  n.ignore_attribute("scale");
  n.ignore_attribute("is_packed_batching");
  n.finish(n.emit(OpId::RotaryEmbedding, Params::of(params), {n.input(0), n.input(2), n.input(3), n.input(1)}));
}

void import_mrotary_embedding(ImportNode& n) {
  n.ignore_attribute("is_packed_batching");
  const Params params = n.read_params(OpId::MRotaryEmbedding);
  n.finish(n.emit(OpId::MRotaryEmbedding, params, {n.input(0), n.input(2), n.input(3), n.input(1)}));
}

void import_causal_conv(ImportNode& n) {
  if (const int64_t axes = n.int_attribute("ndim", 1); axes != 1)
    return n.fail(unsupported("ndim is {}; a convolution with a state must have one spatial axis", axes));
  if (const int64_t dilation = n.int_attribute("dilation", 1); dilation != 1)
    return n.fail(unsupported("dilation is {}; a convolution with a state must have dilation 1", dilation));
  if (n.int_attribute("channels_last", 0) != 0)
    return n.fail(unsupported("channels_last is set; a convolution with a state must have its channels first"));
  n.finish(n.emit(OpId::CausalConvWithState, n.read_params(OpId::CausalConvWithState), n.inputs(), 2));
}

// The contrib ops take positions before the caches.
bool write_rotary_embedding(NodeDraft& d) {
  d.remove("heads_from_cache");
  d.inputs.resize(4, kNone);
  d.inputs = {d.inputs[0], d.inputs[3], d.inputs[1], d.inputs[2]};
  return true;
}

}  // namespace

void map_microsoft_sequences(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "RotaryEmbedding", OpId::RotaryEmbedding, import_rotary_embedding);
  map.way_back(OpId::RotaryEmbedding, kMicrosoftDomain, "RotaryEmbedding", write_rotary_embedding);
  map.custom(kMicrosoftDomain, "CausalConvWithState", OpId::CausalConvWithState, import_causal_conv);
  map.same(kMicrosoftDomain, "LinearAttention", OpId::LinearAttention);
  map.custom(kMicrosoftDomain, "LinearAttentionGate", OpId::Softplus, import_linear_attention_gate);
}

template <>
void onnx_mapping<OpId::MRotaryEmbedding>(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "MRotaryEmbedding", OpId::MRotaryEmbedding, import_mrotary_embedding);
  map.way_back(OpId::MRotaryEmbedding, kMicrosoftDomain, "MRotaryEmbedding", write_rotary_embedding);
}

}  // namespace tenon
