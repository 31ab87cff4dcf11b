#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::Shape>(OnnxMap& map) {
  map.same(kOnnxDomain, "Shape", OpId::Shape);
}

}  // namespace tenon
