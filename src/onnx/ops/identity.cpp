#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::Identity>(OnnxMap& map) {
  map.same(kOnnxDomain, "Identity", OpId::Identity);
}

}  // namespace tenon
