// Ops of com.microsoft that are canonical ops of their own.
#include "onnx/node_draft.h"
#include "ops/tokenizer.h"

namespace tenon {

template <>
void onnx_mapping<OpId::CDist>(OnnxMap& map) {
  map.same(kMicrosoftDomain, "CDist", OpId::CDist);
}

template <>
void onnx_mapping<OpId::Inverse>(OnnxMap& map) {
  map.same(kMicrosoftDomain, "Inverse", OpId::Inverse);
}

template <>
void onnx_mapping<OpId::MurmurHash3>(OnnxMap& map) {
  map.same(kMicrosoftDomain, "MurmurHash3", OpId::MurmurHash3);
}

template <>
void onnx_mapping<OpId::Tokenizer>(OnnxMap& map) {
  map.same(kMicrosoftDomain, "Tokenizer", OpId::Tokenizer);
  // onnxruntime demands these.
  map.way_back(OpId::Tokenizer, kMicrosoftDomain, "Tokenizer", [](NodeDraft& d) {
    const auto& params = d.params<TokenizerParams>();
    d.set_int("mark", params.mark ? 1 : 0);
    d.set_int("mincharnum", params.mincharnum);
    d.set_string("pad_value", params.pad_value);
    return true;
  });
}

template <>
void onnx_mapping<OpId::UnfoldTensor>(OnnxMap& map) {
  map.same(kMicrosoftDomain, "UnfoldTensor", OpId::UnfoldTensor).needs("size");
}

}  // namespace tenon
