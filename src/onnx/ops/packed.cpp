// Ops of compiled plans: ONNX has no spelling for them.
#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::PackPanels>(OnnxMap&) {}

template <>
void onnx_mapping<OpId::PackedMatMul>(OnnxMap&) {}

template <>
void onnx_mapping<OpId::PackedConv>(OnnxMap&) {}

template <>
void onnx_mapping<OpId::PackedConvTranspose>(OnnxMap&) {}

template <>
void onnx_mapping<OpId::Pointwise>(OnnxMap&) {}

template <>
void onnx_mapping<OpId::Reorder>(OnnxMap&) {}

template <>
void onnx_mapping<OpId::External>(OnnxMap&) {}

}  // namespace tenon
