#include "providers/reference/ml_scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/exact_math.h"
#include "providers/reference/elements.h"
#include "providers/reference/work_meter.h"

namespace tenon {

Scratch<double> as_doubles(const TensorView& view) {
  Scratch<double> values;
  values.reserve(static_cast<size_t>(view.size()));
  (void)dispatch<float, double, int32_t, int64_t, Float16>(view.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto elements = view.as<T>();
    for_each_index(view.size(),
                   [&](int64_t i) { values.push_back(static_cast<double>(elements[static_cast<size_t>(i)])); });
    return Status();
  });
  return values;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  WorkMeter().spend(static_cast<int64_t>(a.size()));
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double logistic(double x) {
  const double v = 1 / (1 + exact::exp(-std::abs(x)));
  return x < 0 ? 1 - v : v;
}

namespace {

// Winitzki's approximation with a = 0.147, which is what models are made for: a more exact one would differ by 0.2 %.
double inverse_error_function(double x) {
  constexpr double a = 0.147;
  const double log = exact::log((1 - x) * (1 + x));
  const double v = 2 / (std::numbers::pi * a) + log / 2;
  return std::copysign(std::sqrt(std::sqrt(v * v - log / a) - v), x);
}

double probit(double p) { return std::numbers::sqrt2 * inverse_error_function(2 * p - 1); }

// With skip_zeros, scores of zero stay zero and do not count.
void softmax(std::span<double> scores, bool skip_zeros) {
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) {
    if (skip_zeros && std::abs(s) <= 1e-7) {
      s *= exact::exp(-highest);
      continue;
    }
    s = exact::exp(s - highest);
    sum += s;
  }
  for (double& s : scores) s /= sum;
}

}  // namespace

void transform_scores(PostTransform transform, std::span<double> scores) {
  if (scores.empty() || (scores.size() == 1 && transform != PostTransform::Probit)) return;
  switch (transform) {
    case PostTransform::None:
      break;
    case PostTransform::Softmax:
    case PostTransform::SoftmaxZero:
      softmax(scores, transform == PostTransform::SoftmaxZero);
      break;
    case PostTransform::Logistic:
      for (double& s : scores) s = logistic(s);
      break;
    case PostTransform::Probit:
      for (double& s : scores) s = probit(s);
      break;
  }
}

std::array<double, 2> binary_scores(PostTransform transform, double score, OtherScore other) {
  if (transform == PostTransform::Logistic) return {logistic(-score), logistic(score)};
  if (transform == PostTransform::Probit) return {-probit(score), probit(score)};
  return {other == OtherScore::Complement ? 1 - score : -score, score};
}

void ClassOutputs::label(int64_t row, size_t index) {
  if (!c_.wants(0)) return;
  if (labels_.strings.empty())
    c_.out(0).as<int64_t>()[static_cast<size_t>(row)] = labels_.ints[index];
  else
    text_.copy(labels_.strings[index], c_.out(0).as<std::string>()[static_cast<size_t>(row)]);
}

void ClassOutputs::int_label(int64_t row, int64_t label) {
  if (c_.wants(0)) c_.out(0).as<int64_t>()[static_cast<size_t>(row)] = label;
}

void ClassOutputs::scores(int64_t row, std::span<const double> scores) {
  if (!c_.wants(1)) return;
  auto out = c_.out(1).as<float>().subspan(static_cast<size_t>(row) * scores.size(), scores.size());
  std::transform(scores.begin(), scores.end(), out.begin(), [](double s) { return static_cast<float>(s); });
}

}  // namespace tenon
