#include "ops/ml_svm.h"

#include "onnx/node_draft.h"
#include "onnx/ops/ml_attributes.h"

namespace tenon {

namespace {

// The sum of vectors_per_class, or nothing when that makes no sense.
std::optional<size_t> support_vector_count(const std::vector<int64_t>& vectors_per_class) {
  size_t total = 0;
  for (int64_t count : vectors_per_class)
    if (count < 0 || __builtin_add_overflow(total, static_cast<size_t>(count), &total)) return std::nullopt;
  return total;
}

void import_svm_classifier(ImportNode& n) {
  const auto params = n.read_params<SvmClassifierParams>();
  const auto vectors = support_vector_count(params.vectors_per_class);
  if (!vectors) return n.fail(invalid_model("vectors_per_class has elements that are negative or too large"));
  const size_t classes = params.labels.size();
  const bool linear = *vectors == 0;
  if (linear) n.ignore_attribute("support_vectors");
  const std::vector<ValueId> inputs = {
      n.input(0),
      matrix_weight(n, "coefficients", linear || classes == 0 ? classes : classes - 1),
      float_weight(n, "rho"),
      linear ? kNone : matrix_weight(n, "support_vectors", *vectors),
      float_weight(n, "prob_a"),
      float_weight(n, "prob_b"),
  };
  n.finish(n.emit(OpId::SVMClassifier, Params::of(params), inputs, 2));
}

void import_svm_regressor(ImportNode& n) {
  Params params = n.read_params(OpId::SVMRegressor);
  const int64_t vectors = n.int_attribute("n_supports", 0);
  if (vectors < 0) return n.fail(invalid_model("n_supports is {}; it must not be negative", vectors));
  if (vectors == 0) n.ignore_attribute("support_vectors");
  const std::vector<ValueId> inputs = {
      n.input(0),
      float_weight(n, "coefficients"),
      float_weight(n, "rho"),
      vectors == 0 ? kNone : matrix_weight(n, "support_vectors", static_cast<size_t>(vectors)),
  };
  n.finish(n.emit(OpId::SVMRegressor, std::move(params), inputs));
}

bool write_weights(NodeDraft& d) {
  const char* names[] = {"coefficients", "rho", "support_vectors", "prob_a", "prob_b"};
  for (size_t i = 0; i < std::size(names); ++i)
    if (!d.move_to_attribute({i + 1, names[i], AttributeInput::Kind::Floats})) return false;
  return true;
}

bool write_svm_regressor(NodeDraft& d) {
  if (const auto vectors = d.constant(3)) d.set_int("n_supports", vectors->dims()[0]);
  return write_weights(d);
}

}  // namespace

template <>
void onnx_mapping<OpId::SVMClassifier>(OnnxMap& map) {
  map.custom(kMlDomain, "SVMClassifier", OpId::SVMClassifier, import_svm_classifier);
  map.least_outputs(OpId::SVMClassifier, 2);
  map.way_back(OpId::SVMClassifier, kMlDomain, "SVMClassifier", write_weights);
}

template <>
void onnx_mapping<OpId::SVMRegressor>(OnnxMap& map) {
  map.custom(kMlDomain, "SVMRegressor", OpId::SVMRegressor, import_svm_regressor);
  map.way_back(OpId::SVMRegressor, kMlDomain, "SVMRegressor", write_svm_regressor);
}

}  // namespace tenon
