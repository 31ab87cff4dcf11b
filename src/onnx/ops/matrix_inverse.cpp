#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::Inverse>(OnnxMap& map) {
  map.same(kMicrosoftDomain, "Inverse", OpId::Inverse);
}

}  // namespace tenon
