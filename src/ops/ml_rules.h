#pragma once

#include "ops/infer.h"

// What the rules of the classical machine-learning ops share.
namespace tenon {

inline constexpr TypeSet kMlNumbers{DType::Float32, DType::Float64, DType::Int32, DType::Int64};

// The codes are those of TreeEnsemble.
enum class PostTransform : int64_t { None = 0, Softmax = 1, Logistic = 2, SoftmaxZero = 3, Probit = 4 };
Result<PostTransform> parse_post_transform(std::string_view name);

// The labels of a classifier: integers or strings.
struct ClassLabels {
  std::vector<int64_t> ints;
  std::vector<std::string> strings;

  size_t size() const { return strings.empty() ? ints.size() : strings.size(); }
  DType dtype() const { return strings.empty() ? DType::Int64 : DType::String; }
  Status check() const;
};

// X as rows of features: [features] is one row.
struct FeatureRows {
  Dim rows, features;
};
// Nothing when the rank is open.
Result<std::optional<FeatureRows>> feature_rows(const InferContext& c);
// An error when X has another number of features than the model's `expected`.
Status expect_features(const std::optional<FeatureRows>& x, const Dim& expected, const char* what);
// An output with `columns` for each row of X; its shape is open when X's is.
void out_rows(InferContext& c, size_t output, DType dtype, const std::optional<FeatureRows>& x, Dim columns);
// The two outputs of a classifier: a label and `columns` scores for each row.
void out_classes(InferContext& c, DType label, const std::optional<FeatureRows>& x, Dim columns);

// The number of elements of a 1-D input; nothing when it is open; 0 when it is absent.
std::optional<int64_t> known_length(const InferContext& c, size_t input);
// The input is a vector of one of these lengths (as far as that is known).
Status expect_length(const InferContext& c, size_t input, const char* name, int64_t length);

}  // namespace tenon
