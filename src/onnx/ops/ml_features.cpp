#include "ops/ml_features.h"

#include "onnx/node_draft.h"
#include "onnx/ops/ml_attributes.h"

namespace tenon {

namespace {

void import_imputer(ImportNode& n) {
  Params params = n.read_params(OpId::Imputer);
  const std::vector<float> floats = n.floats_attribute("imputed_value_floats");
  const std::vector<int64_t> ints = n.ints_attribute("imputed_value_int64s");
  if (floats.empty() == ints.empty())
    return n.fail(invalid_model("exactly one of imputed_value_floats and imputed_value_int64s must be given"));
  const ValueId values = ints.empty() ? float_weight(n, "imputed_value_floats")
                                      : n.attribute_weight("imputed_value_int64s", Tensor::of_ints(ints));
  n.finish(n.emit(OpId::Imputer, std::move(params), {n.input(0), values}));
}

void import_scaler(ImportNode& n) {
  const ValueId offset = float_weight(n, "offset"), scale = float_weight(n, "scale");
  n.finish(n.emit(OpId::Scaler, default_params(OpId::Scaler), {n.input(0), offset, scale}));
}

bool write_imputer(NodeDraft& d) {
  const auto values = d.constant(1);
  if (!values) return false;
  return values->dtype() == DType::Int64
             ? d.move_to_attribute({1, "imputed_value_int64s"})
             : d.move_to_attribute({1, "imputed_value_floats", AttributeInput::Kind::Floats});
}

}  // namespace

template <>
void onnx_mapping<OpId::ArrayFeatureExtractor>(OnnxMap& map) {
  map.same(kMlDomain, "ArrayFeatureExtractor", OpId::ArrayFeatureExtractor);
}

template <>
void onnx_mapping<OpId::Binarizer>(OnnxMap& map) {
  map.same(kMlDomain, "Binarizer", OpId::Binarizer);
}

template <>
void onnx_mapping<OpId::FeatureVectorizer>(OnnxMap& map) {
  map.same(kMlDomain, "FeatureVectorizer", OpId::FeatureVectorizer);
}

template <>
void onnx_mapping<OpId::Imputer>(OnnxMap& map) {
  map.custom(kMlDomain, "Imputer", OpId::Imputer, import_imputer);
  map.way_back(OpId::Imputer, kMlDomain, "Imputer", write_imputer);
}

template <>
void onnx_mapping<OpId::Normalizer>(OnnxMap& map) {
  map.same(kMlDomain, "Normalizer", OpId::Normalizer);
}

template <>
void onnx_mapping<OpId::Scaler>(OnnxMap& map) {
  map.custom(kMlDomain, "Scaler", OpId::Scaler, import_scaler);
  map.attribute_inputs(OpId::Scaler,
                       {{1, "offset", AttributeInput::Kind::Floats}, {2, "scale", AttributeInput::Kind::Floats}});
}

}  // namespace tenon
