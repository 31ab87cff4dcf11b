#include "ops/ml_linear.h"

namespace tenon {

namespace {

// Checks X, coefficients and intercepts against each other.
Status check_linear(InferContext& c, std::optional<FeatureRows>& x) {
  TN_ASSIGN_OR_RETURN(x, feature_rows(c));
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kMlNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Float32}));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, {DType::Float32}));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 2));
  const Shape* coefficients = c.shape(1);
  if (!coefficients) return {};
  TN_RETURN_IF_ERROR(expect_features(x, (*coefficients)[1], "the coefficients"));
  if (c.has(2) && (*coefficients)[0].is_constant())
    TN_RETURN_IF_ERROR(expect_length(c, 2, "intercepts", (*coefficients)[0].value()));
  return {};
}

Status infer_linear_classifier(InferContext& c) {
  const auto& p = c.params<LinearClassifierParams>();
  TN_RETURN_IF_ERROR(parse_post_transform(p.post_transform).status());
  TN_RETURN_IF_ERROR(p.labels.check());
  std::optional<FeatureRows> x;
  TN_RETURN_IF_ERROR(check_linear(c, x));
  Dim classes = c.shape(1) ? (*c.shape(1))[0] : c.fresh_symbol();
  if (classes.is_constant()) {
    const size_t count = static_cast<size_t>(classes.value());
    if (count == 0) return invalid_model("a classifier needs at least one row of coefficients");
    if (count == 1 && p.labels.size() != 0 && p.labels.size() != 2)
      return invalid_model("a binary classifier needs two class labels, but {} are given", p.labels.size());
    if (count > 1 && p.labels.size() < count)
      return invalid_model("{} class labels are given, but there are {} classes", p.labels.size(), count);
    if (count == 1 && p.labels.size() == 2) classes = Dim(2);
  }
  out_classes(c, p.labels.dtype(), x, classes);
  return {};
}

Status infer_linear_regressor(InferContext& c) {
  TN_RETURN_IF_ERROR(parse_post_transform(c.params<LinearRegressorParams>().post_transform).status());
  std::optional<FeatureRows> x;
  TN_RETURN_IF_ERROR(check_linear(c, x));
  out_rows(c, 0, DType::Float32, x, c.shape(1) ? (*c.shape(1))[0] : c.fresh_symbol());
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::LinearClassifier>() {
  return define<LinearClassifierParams>({.inputs = {3, 3}, .outputs = {1, 2}, .infer = infer_linear_classifier});
}

template <>
OpDef op_definition<OpId::LinearRegressor>() {
  return define<LinearRegressorParams>({.inputs = {2, 3}, .outputs = {1, 1}, .infer = infer_linear_regressor});
}

}  // namespace tenon
