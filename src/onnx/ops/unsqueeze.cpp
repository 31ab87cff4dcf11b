#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// Before version 13 the axes are an attribute.
void import_unsqueeze(ImportNode& n) {
  const ValueId axes = n.version() < 13 ? n.int_constant(n.ints_attribute("axes")) : n.input(1);
  n.finish(n.emit(OpId::Unsqueeze, default_params(OpId::Unsqueeze), {n.input(0), axes}));
}

}  // namespace

template <>
void onnx_mapping<OpId::Unsqueeze>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Unsqueeze", OpId::Unsqueeze, import_unsqueeze);
}

}  // namespace tenon
