#include "ops/complex_mul.h"

#include "onnx/node_draft.h"

namespace tenon {

namespace {

template <bool conjugate>
void import_complex_mul(ImportNode& n) {
  n.finish(n.emit(OpId::ComplexMul, Params::of(ComplexMulParams{conjugate}), n.inputs()));
}

// The name says whether it is the conjugate.
bool write_complex_mul(NodeDraft& d) {
  d.attributes.clear();
  return true;
}

}  // namespace

template <>
void onnx_mapping<OpId::ComplexMul>(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "ComplexMul", OpId::ComplexMul, import_complex_mul<false>);
  map.custom(kMicrosoftDomain, "ComplexMulConj", OpId::ComplexMul, import_complex_mul<true>);
  map.way_back(OpId::ComplexMul, kMicrosoftDomain, "ComplexMul", write_complex_mul);
  map.way_back(OpId::ComplexMul, kMicrosoftDomain, "ComplexMulConj", write_complex_mul);
}

}  // namespace tenon
