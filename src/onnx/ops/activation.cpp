#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::Relu>(OnnxMap& map) {
  map.same(kOnnxDomain, "Relu", OpId::Relu);
}

}  // namespace tenon
