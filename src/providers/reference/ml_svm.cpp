#include "ops/ml_svm.h"

#include <algorithm>
#include <cmath>

#include "base/exact_math.h"
#include "providers/reference/kernel.h"
#include "providers/reference/ml_scores.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

class SvmKernel {
 public:
  explicit SvmKernel(const SvmKernelParams& p) : type_(p.kernel_type) {
    if (p.kernel_params.size() == 3) {
      gamma_ = p.kernel_params[0];
      coef0_ = p.kernel_params[1];
      degree_ = p.kernel_params[2];
    }
  }
  double operator()(std::span<const double> a, std::span<const double> b) const {
    if (type_ == "RBF") {
      double squares = 0;
      WorkMeter().spend(static_cast<int64_t>(a.size()));
      for (size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
      return exact::exp(-gamma_ * squares);
    }
    const double product = dot(a, b);
    if (type_ == "POLY") return exact::pow(gamma_ * product + coef0_, degree_);
    if (type_ == "SIGMOID") return exact::tanh(gamma_ * product + coef0_);
    return product;
  }
  // Between a row of X and every support vector.
  Scratch<double> with_all(std::span<const double> x, const FeatureMatrix& vectors) const {
    Scratch<double> values;
    for (int64_t v = 0; v < vectors.rows; ++v) values.push_back((*this)(x, vectors.row(v)));
    return values;
  }

 private:
  std::string type_;
  double gamma_ = 0, coef0_ = 0, degree_ = 0;
};

// Probabilities of all classes from those of each pair, r[i][j] = P(i | i or j): the second method of Wu, Lin and
// Weng, "Probability estimates for multi-class classification by pairwise coupling". Stops where libsvm does.
Scratch<double> couple_pairs(const Scratch<Scratch<double>>& r) {
  const size_t k = r.size();
  Scratch<Scratch<double>> q(k, Scratch<double>(k));
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < k; ++j) {
      if (i == j) continue;
      q[i][i] += r[j][i] * r[j][i];
      q[i][j] = -r[j][i] * r[i][j];
    }
  Scratch<double> p(k, 1.0 / static_cast<double>(k)), qp(k);
  WorkMeter meter;
  for (int iteration = 0; iteration < 100; ++iteration) {
    for (size_t i = 0; i < k; ++i) qp[i] = dot(q[i], p);
    double pqp = dot(p, qp);
    double error = 0;
    for (double value : qp) error = std::max(error, std::abs(value - pqp));
    if (error < 0.005 / static_cast<double>(k)) break;
    for (size_t t = 0; t < k; ++t) {
      meter.spend(static_cast<int64_t>(k));
      const double step = (pqp - qp[t]) / q[t][t], norm = 1 + step;
      p[t] += step;
      pqp = (pqp + step * (step * q[t][t] + 2 * qp[t])) / (norm * norm);
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t][j]) / norm;
        p[j] /= norm;
      }
    }
  }
  return p;
}

// One classifier for each pair of classes, which votes for one of them.
class OneVsOne {
 public:
  OneVsOne(KernelContext& c, const SvmClassifierParams& p)
      : kernel_(p.kernel), counts_(p.vectors_per_class), coefficients_(c.in(1)), rho_(as_doubles(c.in(2))),
        vectors_(c.in(3)) {
    if (c.has(4)) {
      prob_a_ = as_doubles(c.in(4));
      prob_b_ = as_doubles(c.in(5));
    }
    size_t start = 0;
    for (int64_t count : counts_) {
      starts_.push_back(start);
      start += static_cast<size_t>(count);
    }
  }
  bool has_probabilities() const { return !prob_a_.empty(); }
  size_t class_count() const { return counts_.size(); }

  // The scores of all pairs, and the class most of them vote for.
  Scratch<double> decide(std::span<const double> x, size_t& winner) const {
    const Scratch<double> kernels = kernel_.with_all(x, vectors_);
    Scratch<double> scores;
    std::vector<int64_t> votes(class_count());
    for (size_t i = 0; i + 1 < class_count(); ++i)
      for (size_t j = i + 1; j < class_count(); ++j) {
        const double sum = partial(kernels, j - 1, i) + partial(kernels, i, j) + rho_[scores.size()];
        ++votes[sum > 0 ? i : j];
        scores.push_back(sum);
      }
    winner = static_cast<size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
    return scores;
  }

  Scratch<double> probabilities(const Scratch<double>& scores) const {
    const size_t k = class_count();
    Scratch<Scratch<double>> pairs(k, Scratch<double>(k));
    size_t at = 0;
    for (size_t i = 0; i + 1 < k; ++i)
      for (size_t j = i + 1; j < k; ++j, ++at) {
        const double p = logistic(-(scores[at] * prob_a_[at] + prob_b_[at]));
        pairs[i][j] = std::clamp(p, 1e-7, 1 - 1e-7);
        pairs[j][i] = 1 - pairs[i][j];
      }
    return couple_pairs(pairs);
  }

 private:
  // The support vectors of one class, weighted by one row of coefficients.
  double partial(const Scratch<double>& kernels, size_t row, size_t of_class) const {
    const size_t start = starts_[of_class], count = static_cast<size_t>(counts_[of_class]);
    return dot(coefficients_.row(static_cast<int64_t>(row)).subspan(start, count),
               std::span(kernels).subspan(start, count));
  }

  SvmKernel kernel_;
  const std::vector<int64_t>& counts_;
  FeatureMatrix coefficients_;
  Scratch<double> rho_;
  FeatureMatrix vectors_;
  Scratch<double> prob_a_, prob_b_;
  Scratch<size_t> starts_;
};

void classify_one_vs_one(KernelContext& c, const SvmClassifierParams& p, PostTransform transform) {
  const OneVsOne svm(c, p);
  const FeatureMatrix x(c.in(0));
  ClassOutputs out(c, p.labels);
  for (int64_t row = 0; row < x.rows; ++row) {
    size_t winner = 0;
    Scratch<double> scores = svm.decide(x.row(row), winner);
    out.label(row, winner);
    if (scores.size() == 1 && !svm.has_probabilities()) {
      const auto other = transform == PostTransform::None ? OtherScore::Negative : OtherScore::Complement;
      out.scores(row, binary_scores(transform, scores[0], other));
      continue;
    }
    if (svm.has_probabilities()) scores = svm.probabilities(scores);
    transform_scores(transform, scores);
    out.scores(row, scores);
  }
}

// Without support vectors each class has its own linear score.
void classify_linear(KernelContext& c, const SvmClassifierParams& p, PostTransform transform) {
  const FeatureMatrix x(c.in(0)), coefficients(c.in(1));
  const double rho = as_doubles(c.in(2))[0];
  const bool all_positive =
      std::all_of(coefficients.values.begin(), coefficients.values.end(), [](double value) { return value >= 0; });
  ClassOutputs out(c, p.labels);
  for (int64_t row = 0; row < x.rows; ++row) {
    Scratch<double> scores;
    for (int64_t k = 0; k < coefficients.rows; ++k) scores.push_back(dot(x.row(row), coefficients.row(k)) + rho);
    const auto highest = std::max_element(scores.begin(), scores.end());
    // Of two classes the second wins as soon as any score says yes.
    const bool yes = scores.size() == 2 && !c.has(4) && (all_positive ? *highest >= 0.5 : *highest > 0);
    out.label(row, yes ? 1 : static_cast<size_t>(highest - scores.begin()));
    transform_scores(transform, scores);
    out.scores(row, scores);
  }
}

Status classify_by_svm(KernelContext& c) {
  const auto& p = c.params<SvmClassifierParams>();
  TN_ASSIGN_OR_RETURN(const PostTransform transform, parse_post_transform(p.post_transform));
  if (c.has(3))
    classify_one_vs_one(c, p, transform);
  else
    classify_linear(c, p, transform);
  return {};
}

Status regress_by_svm(KernelContext& c) {
  const auto& p = c.params<SvmRegressorParams>();
  TN_ASSIGN_OR_RETURN(const PostTransform transform, parse_post_transform(p.post_transform));
  const FeatureMatrix x(c.in(0));
  const Scratch<double> coefficients = as_doubles(c.in(1));
  const double rho = as_doubles(c.in(2))[0];
  const std::optional<FeatureMatrix> vectors = c.has(3) ? std::optional<FeatureMatrix>(c.in(3)) : std::nullopt;
  const SvmKernel kernel(p.kernel);
  for (int64_t row = 0; row < x.rows; ++row) {
    double score =
        rho + (vectors ? dot(coefficients, kernel.with_all(x.row(row), *vectors)) : dot(coefficients, x.row(row)));
    if (p.one_class) score = score > 0 ? 1 : -1;
    transform_scores(transform, {&score, 1});
    c.out(0).as<float>()[static_cast<size_t>(row)] = static_cast<float>(score);
  }
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::SVMClassifier>() {
  return classify_by_svm;
}

template <>
KernelFunction reference_kernel<OpId::SVMRegressor>() {
  return regress_by_svm;
}

}  // namespace tenon
