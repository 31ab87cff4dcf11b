#include "ops/loss.h"

#include <algorithm>

#include "base/exact_math.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// Scores as [N, C, rest]; one sample is a position of [N, rest].
struct Samples {
  AxisSplit split;
  explicit Samples(const TensorView& scores) : split(scores.dims, 1) {}
  int64_t count() const { return split.outer * split.inner; }
  int64_t classes() const { return split.extent; }
  int64_t offset(int64_t sample, int64_t label) const {
    return (sample / split.inner * split.extent + label) * split.inner + sample % split.inner;
  }
};

// Minus the weighted log-probability of each sample's label, reduced as asked.
// log_probability(sample, label) gives it.
template <class F>
Status reduce_loss(KernelContext& c, const Samples& samples, F log_probability) {
  const auto& p = c.params<LossParams>();
  const TensorView& labels = c.in(1);
  double total = 0, total_weight = 0;
  WorkMeter meter;
  for (int64_t i = 0; i < samples.count(); ++i) {
    meter.spend(4);
    const int64_t label = integer_at(labels, i);
    const bool ignored = p.ignore_index == label;
    if (!ignored && (label < 0 || label >= samples.classes()))
      return invalid_argument("label {} at position {} is outside the range of {} classes", label, i,
                              samples.classes());
    const double weight = ignored ? 0 : c.has(2) ? number_at(c.in(2), label) : 1;
    const double loss = ignored ? 0 : -log_probability(i, label) * weight;
    if (p.reduction == "none") {
      if (c.wants(0)) store_number(c.out(0), i, loss);
      continue;
    }
    total += loss;
    total_weight += weight;
  }
  if (p.reduction != "none" && c.wants(0))
    store_number(c.out(0), 0, p.reduction == "mean" ? total / total_weight : total);
  return {};
}

Status negative_log_likelihood(KernelContext& c) {
  const Samples samples(c.in(0));
  return reduce_loss(c, samples,
                     [&](int64_t sample, int64_t label) { return number_at(c.in(0), samples.offset(sample, label)); });
}

Status softmax_cross_entropy(KernelContext& c) {
  const TensorView& scores = c.in(0);
  const Samples samples(scores);
  // log(sum(exp(scores))) of each sample.
  Scratch<double> norms(static_cast<size_t>(samples.count()));
  for (int64_t i = 0; i < samples.count(); ++i) {
    double largest = -HUGE_VAL, sum = 0;
    for_each_index(samples.classes(),
                   [&](int64_t k) { largest = std::max(largest, number_at(scores, samples.offset(i, k))); });
    for_each_index(samples.classes(),
                   [&](int64_t k) { sum += exact::exp(number_at(scores, samples.offset(i, k)) - largest); });
    norms[static_cast<size_t>(i)] = largest + exact::log(sum);
  }
  auto log_probability = [&](int64_t sample, int64_t label) {
    return number_at(scores, samples.offset(sample, label)) - norms[static_cast<size_t>(sample)];
  };
  if (c.wants(1))
    for (int64_t i = 0; i < samples.count(); ++i)
      for_each_index(samples.classes(),
                     [&](int64_t k) { store_number(c.out(1), samples.offset(i, k), log_probability(i, k)); });
  return reduce_loss(c, samples, log_probability);
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::NegativeLogLikelihoodLoss>() {
  return negative_log_likelihood;
}

template <>
KernelFunction reference_kernel<OpId::SoftmaxCrossEntropyLoss>() {
  return softmax_cross_entropy;
}

}  // namespace tenon
