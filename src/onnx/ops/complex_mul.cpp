#include "ops/complex_mul.h"

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

template <bool conjugate>
void import_complex_mul(ImportNode& n) {
  n.finish(n.emit(OpId::ComplexMul, Params::of(ComplexMulParams{conjugate}), n.inputs()));
}

}  // namespace

template <>
void onnx_mapping<OpId::ComplexMul>(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "ComplexMul", OpId::ComplexMul, import_complex_mul<false>);
  map.custom(kMicrosoftDomain, "ComplexMulConj", OpId::ComplexMul, import_complex_mul<true>);
}

}  // namespace tenon
