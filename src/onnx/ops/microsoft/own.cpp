// Ops of com.microsoft that are canonical ops of their own.
#include "onnx/onnx_map.h"

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
}

template <>
void onnx_mapping<OpId::UnfoldTensor>(OnnxMap& map) {
  map.same(kMicrosoftDomain, "UnfoldTensor", OpId::UnfoldTensor);
}

}  // namespace tenon
