#include "ops/ml_svm.h"

namespace tenon {

namespace {

Status check_kernel(const SvmKernelParams& p) {
  if (p.kernel_type != "LINEAR" && p.kernel_type != "POLY" && p.kernel_type != "RBF" && p.kernel_type != "SIGMOID")
    return invalid_model("kernel_type is '{}'; it must be LINEAR, POLY, RBF or SIGMOID", p.kernel_type);
  if (!p.kernel_params.empty() && p.kernel_params.size() != 3)
    return invalid_model("kernel_params has {} elements; it must have three: gamma, coef0 and degree",
                         p.kernel_params.size());
  return {};
}

Status check_inputs(InferContext& c, std::optional<FeatureRows>& x) {
  TN_ASSIGN_OR_RETURN(x, feature_rows(c));
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kMlNumbers));
  for (size_t i = 1; i < c.input_count(); ++i) TN_RETURN_IF_ERROR(c.expect_tensor(i, {DType::Float32}));
  if (known_length(c, 2) == 0) return invalid_model("rho is empty");
  if (!c.has(3)) return {};
  TN_RETURN_IF_ERROR(c.expect_rank(3, 2));
  if (c.shape(3)) TN_RETURN_IF_ERROR(expect_features(x, (*c.shape(3))[1], "the support vectors"));
  return {};
}

// The coefficients are [rows, columns], as far as that is known.
Status expect_coefficients(const InferContext& c, int64_t rows, const Dim& columns) {
  TN_RETURN_IF_ERROR(c.expect_rank(1, 2));
  const Shape* shape = c.shape(1);
  if (!shape) return {};
  const bool same_columns = !columns.is_constant() || !(*shape)[1].is_constant() || (*shape)[1] == columns;
  if ((!(*shape)[0].is_constant() || (*shape)[0].value() == rows) && same_columns) return {};
  return invalid_model("the coefficients have the shape {}; it must be {}", shape_text(*shape),
                       shape_text({Dim(rows), columns}));
}

Status check_one_vs_one(InferContext& c, const SvmClassifierParams& p) {
  const int64_t classes = static_cast<int64_t>(p.labels.size());
  if (classes < 2) return invalid_model("at least two class labels are needed, but there are {}", classes);
  if (p.vectors_per_class.size() != p.labels.size())
    return invalid_model("vectors_per_class has {} elements, but there are {} classes", p.vectors_per_class.size(),
                         classes);
  Dim total(0);
  for (int64_t count : p.vectors_per_class) {
    if (count < 0) return invalid_model("vectors_per_class has the negative element {}", count);
    total = total + Dim(count);
  }
  if (c.shape(3) && (*c.shape(3))[0].is_constant() && !((*c.shape(3))[0] == total))
    return invalid_model("the elements of vectors_per_class add up to {}, but there are {} support vectors",
                         total.to_string(), (*c.shape(3))[0].value());
  TN_RETURN_IF_ERROR(expect_coefficients(c, classes - 1, total));
  const int64_t pairs = classes * (classes - 1) / 2;
  TN_RETURN_IF_ERROR(expect_length(c, 2, "rho", pairs));
  if (c.has(4) != c.has(5)) return invalid_model("prob_a and prob_b must be given together");
  if (!c.has(4)) return {};
  TN_RETURN_IF_ERROR(expect_length(c, 4, "prob_a", pairs));
  return expect_length(c, 5, "prob_b", pairs);
}

Status infer_svm_classifier(InferContext& c) {
  const auto& p = c.params<SvmClassifierParams>();
  TN_RETURN_IF_ERROR(parse_post_transform(p.post_transform).status());
  TN_RETURN_IF_ERROR(p.labels.check());
  TN_RETURN_IF_ERROR(check_kernel(p.kernel));
  if (p.labels.size() == 0) return invalid_model("classlabels_ints or classlabels_strings must be given");
  if (p.labels.size() > 65535) return invalid_model("there are {} classes; the limit is 65535", p.labels.size());
  std::optional<FeatureRows> x;
  TN_RETURN_IF_ERROR(check_inputs(c, x));
  const int64_t classes = static_cast<int64_t>(p.labels.size());
  if (!c.has(3)) {
    TN_RETURN_IF_ERROR(expect_coefficients(c, classes, x ? x->features : c.fresh_symbol()));
    out_classes(c, p.labels.dtype(), x, Dim(classes));
    return {};
  }
  TN_RETURN_IF_ERROR(check_one_vs_one(c, p));
  // Raw scores are one per pair of classes; two classes get one score each all the same.
  out_classes(c, p.labels.dtype(), x, Dim(c.has(4) || classes == 2 ? classes : classes * (classes - 1) / 2));
  return {};
}

Status infer_svm_regressor(InferContext& c) {
  const auto& p = c.params<SvmRegressorParams>();
  TN_RETURN_IF_ERROR(parse_post_transform(p.post_transform).status());
  TN_RETURN_IF_ERROR(check_kernel(p.kernel));
  std::optional<FeatureRows> x;
  TN_RETURN_IF_ERROR(check_inputs(c, x));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 1));
  std::optional<Dim> wanted;
  if (c.has(3))
    wanted = c.shape(3) ? std::optional((*c.shape(3))[0]) : std::nullopt;
  else if (x)
    wanted = x->features;
  if (wanted && wanted->is_constant()) TN_RETURN_IF_ERROR(expect_length(c, 1, "coefficients", wanted->value()));
  out_rows(c, 0, DType::Float32, x, Dim(1));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::SVMClassifier>() {
  return define<SvmClassifierParams>({.inputs = {3, 6}, .outputs = {1, 2}, .infer = infer_svm_classifier});
}

template <>
OpDef op_definition<OpId::SVMRegressor>() {
  return define<SvmRegressorParams>({.inputs = {3, 4}, .outputs = {1, 1}, .infer = infer_svm_regressor});
}

}  // namespace tenon
