#include "ops/ml_linear.h"

#include <algorithm>

#include "providers/reference/kernel.h"
#include "providers/reference/ml_scores.h"

namespace tenon {

namespace {

// X times the coefficients, row by row.
class LinearScores {
 public:
  explicit LinearScores(KernelContext& c)
      : x(c.in(0)), coefficients_(c.in(1)),
        intercepts_(c.has(2) ? as_doubles(c.in(2)) : Scratch<double>(static_cast<size_t>(coefficients_.rows))) {}

  Scratch<double> operator()(int64_t row) const {
    Scratch<double> scores = intercepts_;
    for (size_t k = 0; k < scores.size(); ++k) scores[k] += dot(x.row(row), coefficients_.row(static_cast<int64_t>(k)));
    return scores;
  }

  const FeatureMatrix x;

 private:
  const FeatureMatrix coefficients_;
  const Scratch<double> intercepts_;
};

Status classify_linearly(KernelContext& c) {
  const auto& p = c.params<LinearClassifierParams>();
  TN_ASSIGN_OR_RETURN(const PostTransform transform, parse_post_transform(p.post_transform));
  const LinearScores linear(c);
  ClassOutputs out(c, p.labels);
  for (int64_t row = 0; row < linear.x.rows; ++row) {
    Scratch<double> scores = linear(row);
    if (scores.size() > 1) {
      out.label(row, static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin()));
      transform_scores(transform, scores);
      out.scores(row, scores);
      continue;
    }
    const bool positive = scores[0] > 0;
    if (p.labels.size() == 2) {
      out.label(row, positive);
      out.scores(row, binary_scores(transform, scores[0], OtherScore::Complement));
    } else {
      out.int_label(row, positive);
      transform_scores(transform, scores);
      out.scores(row, scores);
    }
  }
  return {};
}

Status regress_linearly(KernelContext& c) {
  TN_ASSIGN_OR_RETURN(const PostTransform transform,
                      parse_post_transform(c.params<LinearRegressorParams>().post_transform));
  const LinearScores linear(c);
  auto out = c.out(0).as<float>();
  size_t at = 0;
  for (int64_t row = 0; row < linear.x.rows; ++row) {
    Scratch<double> scores = linear(row);
    transform_scores(transform, scores);
    for (double s : scores) out[at++] = static_cast<float>(s);
  }
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::LinearClassifier>() {
  return classify_linearly;
}

template <>
KernelFunction reference_kernel<OpId::LinearRegressor>() {
  return regress_linearly;
}

}  // namespace tenon
