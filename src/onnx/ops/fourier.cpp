#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// Before version 20 the axis is an attribute.
void import_dft(ImportNode& n) {
  std::vector<ValueId> inputs{n.input(0), n.input(1)};
  inputs.push_back(n.version() < 20 ? n.constant(Tensor::scalar(n.int_attribute("axis", 1))) : n.input(2));
  n.finish(n.emit(OpId::DFT, n.read_params(OpId::DFT), std::move(inputs)));
}

}  // namespace

template <>
void onnx_mapping<OpId::DFT>(OnnxMap& map) {
  map.custom(kOnnxDomain, "DFT", OpId::DFT, import_dft);
  map.attribute_inputs(OpId::DFT, {{2, "axis", AttributeInput::Kind::Int}});
}
template <>
void onnx_mapping<OpId::STFT>(OnnxMap& map) {
  map.same(kOnnxDomain, "STFT", OpId::STFT);
}

}  // namespace tenon
