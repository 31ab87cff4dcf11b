#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// Before version 7 'broadcast' permits what is always permitted now.
void import_gemm(ImportNode& n) {
  n.ignore_attribute("broadcast");
  n.finish(n.emit(OpId::Gemm, n.read_params(OpId::Gemm), n.inputs()));
}

}  // namespace

template <>
void onnx_mapping<OpId::Gemm>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Gemm", OpId::Gemm, import_gemm);
}

}  // namespace tenon
