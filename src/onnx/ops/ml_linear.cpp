#include "ops/ml_linear.h"

#include "onnx/node_draft.h"
#include "onnx/ops/ml_attributes.h"

namespace tenon {

namespace {

// Rows of coefficients when no intercepts tell: as many as X's features fill, or one per label.
size_t rows_without_intercepts(ImportNode& n, const ClassLabels& labels, size_t coefficients) {
  const auto& shape = n.type(n.input(0)).shape;
  const int64_t features = shape && !shape->empty() && shape->back().is_constant() ? shape->back().value() : 0;
  return features > 0 ? coefficients / static_cast<size_t>(features) : std::max<size_t>(labels.size(), 1);
}

void import_linear_classifier(ImportNode& n) {
  LinearClassifierParams params;
  params.labels = read_labels(n, "classlabels_ints", "classlabels_strings");
  params.post_transform = n.string_attribute("post_transform", params.post_transform);
  n.ignore_attribute("multi_class");
  ValueId intercepts = float_weight(n, "intercepts");
  size_t classes = n.floats_attribute("intercepts").size();
  if (classes == 0) {
    classes = rows_without_intercepts(n, params.labels, n.floats_attribute("coefficients").size());
    intercepts = n.constant(float_tensor(std::vector<float>(classes), {static_cast<int64_t>(classes)}));
  }
  const ValueId coefficients = matrix_weight(n, "coefficients", classes);
  n.finish(n.emit(OpId::LinearClassifier, Params::of(std::move(params)), {n.input(0), coefficients, intercepts}, 2));
}

void import_linear_regressor(ImportNode& n) {
  const int64_t targets = n.int_attribute("targets", 1);
  if (targets < 1) return n.fail(invalid_model("targets is {}; it must be positive", targets));
  Params params = n.read_params(OpId::LinearRegressor);
  const ValueId coefficients = matrix_weight(n, "coefficients", static_cast<size_t>(targets));
  const ValueId intercepts = float_weight(n, "intercepts");
  n.finish(n.emit(OpId::LinearRegressor, std::move(params), {n.input(0), coefficients, intercepts}));
}

bool write_linear_regressor(NodeDraft& d) {
  const auto coefficients = d.constant(1);
  if (!coefficients || coefficients->dims().size() != 2) return false;
  d.set_int("targets", coefficients->dims()[0]);
  return d.move_to_attribute({1, "coefficients", AttributeInput::Kind::Floats}) &&
         d.move_to_attribute({2, "intercepts", AttributeInput::Kind::Floats});
}

}  // namespace

template <>
void onnx_mapping<OpId::LinearClassifier>(OnnxMap& map) {
  map.custom(kMlDomain, "LinearClassifier", OpId::LinearClassifier, import_linear_classifier).needs("coefficients");
  map.least_outputs(OpId::LinearClassifier, 2);
  map.attribute_inputs(OpId::LinearClassifier, {{1, "coefficients", AttributeInput::Kind::Floats},
                                                {2, "intercepts", AttributeInput::Kind::Floats}});
}

template <>
void onnx_mapping<OpId::LinearRegressor>(OnnxMap& map) {
  map.custom(kMlDomain, "LinearRegressor", OpId::LinearRegressor, import_linear_regressor);
  map.way_back(OpId::LinearRegressor, kMlDomain, "LinearRegressor", write_linear_regressor);
}

}  // namespace tenon
