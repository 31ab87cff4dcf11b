#include "onnx/onnx_map.h"

namespace tenon {

template <>
void onnx_mapping<OpId::CastMap>(OnnxMap& map) {
  map.same(kMlDomain, "CastMap", OpId::CastMap);
}

template <>
void onnx_mapping<OpId::DictVectorizer>(OnnxMap& map) {
  map.same(kMlDomain, "DictVectorizer", OpId::DictVectorizer);
}

template <>
void onnx_mapping<OpId::ZipMap>(OnnxMap& map) {
  map.same(kMlDomain, "ZipMap", OpId::ZipMap);
}

}  // namespace tenon
