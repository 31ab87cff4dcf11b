#include "onnx/onnx_map.h"

namespace tenon {

// The importer makes these itself for ops without a mapping.
template <>
void onnx_mapping<OpId::Unsupported>(OnnxMap&) {}

}  // namespace tenon
