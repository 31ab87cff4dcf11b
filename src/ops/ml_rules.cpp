#include "ops/ml_rules.h"

namespace tenon {

Result<PostTransform> parse_post_transform(std::string_view name) {
  constexpr std::string_view names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  for (size_t i = 0; i < std::size(names); ++i)
    if (name == names[i]) return static_cast<PostTransform>(i);
  return invalid_model("post_transform is '{}'; it must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", name);
}

Status ClassLabels::check() const {
  if (!ints.empty() && !strings.empty()) return invalid_model("class labels are given both as integers and as strings");
  return {};
}

Result<std::optional<FeatureRows>> feature_rows(const InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kMlNumbers | TypeSet{DType::Float16}));
  const Shape* shape = c.shape(0);
  if (!shape) return std::optional<FeatureRows>();
  if (shape->size() == 1) return std::optional(FeatureRows{Dim(1), (*shape)[0]});
  if (shape->size() == 2) return std::optional(FeatureRows{(*shape)[0], (*shape)[1]});
  return invalid_model("X must be [features] or [rows, features], but its shape is {}", shape_text(*shape));
}

Status expect_features(const std::optional<FeatureRows>& x, const Dim& expected, const char* what) {
  if (!x || !x->features.is_constant() || !expected.is_constant() || x->features == expected) return {};
  return invalid_model("X has {} features, but {} need {}", x->features.value(), what, expected.value());
}

void out_rows(InferContext& c, size_t output, DType dtype, const std::optional<FeatureRows>& x, Dim columns) {
  if (x)
    c.out(output, dtype, Shape{x->rows, std::move(columns)});
  else
    c.out(output, dtype, Shape{c.fresh_symbol(), std::move(columns)});
}

void out_classes(InferContext& c, DType label, const std::optional<FeatureRows>& x, Dim columns) {
  const Dim rows = x ? x->rows : c.fresh_symbol();
  c.out(0, label, Shape{rows});
  c.out(1, DType::Float32, Shape{rows, std::move(columns)});
}

std::optional<int64_t> known_length(const InferContext& c, size_t input) {
  if (!c.has(input)) return 0;
  const Shape* shape = c.shape(input);
  if (!shape) return std::nullopt;
  return element_count(*shape).constant();
}

Status expect_length(const InferContext& c, size_t input, const char* name, int64_t length) {
  TN_RETURN_IF_ERROR(c.expect_rank(input, 1));
  const auto known = known_length(c, input);
  if (!known || *known == length) return {};
  return invalid_model("{} has {} elements but needs {}", name, *known, length);
}

}  // namespace tenon
