#include <algorithm>
#include <cmath>

#include "base/exact_math.h"
#include "ops/random.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/random.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// Significant binary digits: a uniform number with so many never rounds up to 1.
int digits_of(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 53;
    case DType::Float16:
      return 11;
    case DType::BFloat16:
      return 8;
    default:
      return 24;
  }
}

Status fill_uniform(KernelContext& c) {
  const auto& p = c.params<RandomUniformParams>();
  const RandomStream stream = RandomStream::of(p.seed, c.services());
  const TensorView& out = c.out(0);
  const double low = p.low, high = p.high;
  for_each_index(out.size(), [&](int64_t i) {
    store_number(out, i, low + stream.uniform(static_cast<uint64_t>(i), digits_of(out.dtype)) * (high - low));
  });
  return {};
}

Status fill_normal(KernelContext& c) {
  const auto& p = c.params<RandomNormalParams>();
  const RandomStream stream = RandomStream::of(p.seed, c.services());
  for_each_index(c.out(0).size(), [&](int64_t i) {
    store_number(c.out(0), i, p.mean + stream.normal(static_cast<uint64_t>(i)) * p.scale);
  });
  return {};
}

Status draw_bernoulli(KernelContext& c) {
  const RandomStream stream = RandomStream::of(c.params<BernoulliParams>().seed, c.services());
  for_each_index(c.out(0).size(), [&](int64_t i) {
    store_number(c.out(0), i, stream.uniform(static_cast<uint64_t>(i)) < number_at(c.in(0), i) ? 1 : 0);
  });
  return {};
}

// Inverts the cumulative distribution of each row of log-probabilities.
Status draw_multinomial(KernelContext& c) {
  const RandomStream stream = RandomStream::of(c.params<MultinomialParams>().seed, c.services());
  const TensorView &in = c.in(0), &out = c.out(0);
  if (out.size() == 0) return {};
  const int64_t rows = in.dims[0], classes = in.dims[1], samples = out.dims[1];
  if (classes == 0) return invalid_argument("there are no classes to draw from");
  Scratch<double> cumulative(static_cast<size_t>(classes));
  for (int64_t row = 0; row < rows; ++row) {
    double largest = -HUGE_VAL, sum = 0;
    for_each_index(classes, [&](int64_t k) { largest = std::max(largest, number_at(in, row * classes + k)); });
    for_each_index(classes, [&](int64_t k) {
      cumulative[static_cast<size_t>(k)] = sum += exact::exp(number_at(in, row * classes + k) - largest);
    });
    if (!(sum > 0) || std::isinf(sum)) return invalid_argument("row {} is not a probability distribution", row);
    for_each_index(samples, [&](int64_t s) {
      const double u = stream.uniform(static_cast<uint64_t>(row * samples + s)) * sum;
      const auto chosen = std::upper_bound(cumulative.begin(), cumulative.end(), u) - cumulative.begin();
      store_number(out, row * samples + s, static_cast<double>(std::min<int64_t>(chosen, classes - 1)));
    });
  }
  return {};
}

// Outside training everything is kept.
Status drop_out(KernelContext& c) {
  const TensorView& in = c.in(0);
  const double ratio = c.has(1) ? number_at(c.in(1), 0) : 0.5;
  const bool training = c.has(2) && number_at(c.in(2), 0) != 0 && ratio != 0;
  if (training && !(ratio >= 0 && ratio < 1)) return invalid_argument("the ratio is {}; it must be in [0, 1)", ratio);
  const std::optional<RandomStream> stream =
      training ? std::optional(RandomStream::of(c.params<DropoutParams>().seed, c.services())) : std::nullopt;
  const double scale = training ? 1 / (1 - ratio) : 1;
  for_each_index(in.size(), [&](int64_t i) {
    const bool kept = !training || stream->uniform(static_cast<uint64_t>(i)) >= ratio;
    if (c.wants(0)) store_number(c.out(0), i, kept ? number_at(in, i) * scale : 0);
    if (c.wants(1)) c.out(1).as<bool>()[static_cast<size_t>(i)] = kept;
  });
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::RandomUniform>() {
  return fill_uniform;
}

template <>
KernelFunction reference_kernel<OpId::RandomUniformLike>() {
  return fill_uniform;
}

template <>
KernelFunction reference_kernel<OpId::RandomNormal>() {
  return fill_normal;
}

template <>
KernelFunction reference_kernel<OpId::RandomNormalLike>() {
  return fill_normal;
}

template <>
KernelFunction reference_kernel<OpId::Bernoulli>() {
  return draw_bernoulli;
}

template <>
KernelFunction reference_kernel<OpId::Multinomial>() {
  return draw_multinomial;
}

template <>
KernelFunction reference_kernel<OpId::Dropout>() {
  return drop_out;
}

}  // namespace tenon
