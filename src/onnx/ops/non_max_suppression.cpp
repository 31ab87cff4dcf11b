#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::NonMaxSuppression>(OnnxMap& map) {
  map.same(kOnnxDomain, "NonMaxSuppression", OpId::NonMaxSuppression);
}

}  // namespace tenon
