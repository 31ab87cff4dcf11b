#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::Identity>(OnnxMap& map) {
  map.same(kOnnxDomain, "Identity", OpId::Identity);
  // onnxruntime writes these between CPU and GPU nodes of the models that it saves. Tenon has one memory.
  for (std::string_view name : {"MemcpyFromHost", "MemcpyToHost"}) map.same(kOnnxDomain, name, OpId::Identity);
}

}  // namespace tenon
