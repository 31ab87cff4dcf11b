#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::Conv>(OnnxMap& map) {
  map.same(kOnnxDomain, "Conv", OpId::Conv);
}

template <>
void onnx_mapping<OpId::ConvTranspose>(OnnxMap& map) {
  map.same(kOnnxDomain, "ConvTranspose", OpId::ConvTranspose);
}

template <>
void onnx_mapping<OpId::DeformConv>(OnnxMap& map) {
  map.same(kOnnxDomain, "DeformConv", OpId::DeformConv);
}

template <>
void onnx_mapping<OpId::CausalConvWithState>(OnnxMap& map) {
  map.same(kOnnxDomain, "CausalConvWithState", OpId::CausalConvWithState).lacks("state_window");
}

}  // namespace tenon
