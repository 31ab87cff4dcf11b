#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::Einsum>(OnnxMap& map) {
  map.same(kOnnxDomain, "Einsum", OpId::Einsum).needs("equation", 12);
}

}  // namespace tenon
