#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::MatMul>(OnnxMap& map) {
  map.same(kOnnxDomain, "MatMul", OpId::MatMul);
}

}  // namespace tenon
