#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// K is an attribute in the first version.
void import_topk(ImportNode& n) {
  const ValueId k = n.version() < 10 ? n.int_constant({n.int_attribute("k", 0)}) : n.input(1);
  n.finish(n.emit(OpId::TopK, n.read_params(OpId::TopK), {n.input(0), k}, n.output_count()));
}

}  // namespace

template <>
void onnx_mapping<OpId::ArgMax>(OnnxMap& map) {
  map.same(kOnnxDomain, "ArgMax", OpId::ArgMax);
}

template <>
void onnx_mapping<OpId::ArgMin>(OnnxMap& map) {
  map.same(kOnnxDomain, "ArgMin", OpId::ArgMin);
}

template <>
void onnx_mapping<OpId::CumSum>(OnnxMap& map) {
  map.same(kOnnxDomain, "CumSum", OpId::CumSum);
}

template <>
void onnx_mapping<OpId::CumProd>(OnnxMap& map) {
  map.same(kOnnxDomain, "CumProd", OpId::CumProd);
}

template <>
void onnx_mapping<OpId::TopK>(OnnxMap& map) {
  map.least_outputs(OpId::TopK, 2);
  map.attribute_inputs(OpId::TopK, {{1, "k", AttributeInput::Kind::Int}});
  map.custom(kOnnxDomain, "TopK", OpId::TopK, import_topk).needs("k", 1, 10);
}

}  // namespace tenon
