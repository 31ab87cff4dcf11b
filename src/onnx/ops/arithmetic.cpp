#include "onnx/ops/legacy_broadcast.h"
#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::Add>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Add", OpId::Add, import_binary<OpId::Add>);
}

}  // namespace tenon
