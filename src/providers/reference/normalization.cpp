#include "ops/normalization.h"

#include <algorithm>
#include <cmath>

#include "base/exact_math.h"
#include "ops/infer.h"
#include "providers/reference/doubles.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

struct Moments {
  double mean, variance;
  // Of the elements at(0) .. at(count - 1); the population variance.
  template <class At>
  static Moments of(int64_t count, const At& at) {
    double sum = 0.0, squares = 0.0;
    for_each_index(count, [&](int64_t i) { sum += at(i); });
    const double mean = sum / static_cast<double>(count);
    for_each_index(count, [&](int64_t i) { squares += (at(i) - mean) * (at(i) - mean); });
    return {mean, squares / static_cast<double>(count)};
  }
  double inverse_deviation(float epsilon) const { return 1.0 / std::sqrt(variance + static_cast<double>(epsilon)); }
};

struct BatchStatistics {
  Doubles scale, bias, mean, variance;
  static Result<BatchStatistics> of(KernelContext& c) {
    BatchStatistics s;
    TN_ASSIGN_OR_RETURN(s.scale, read_doubles(c, 1));
    TN_ASSIGN_OR_RETURN(s.bias, read_doubles(c, 2));
    TN_ASSIGN_OR_RETURN(s.mean, read_doubles(c, 3));
    TN_ASSIGN_OR_RETURN(s.variance, read_doubles(c, 4));
    return s;
  }
};

Status run_batch_normalization(KernelContext& c) {
  const auto& p = c.params<BatchNormalizationParams>();
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(auto given, BatchStatistics::of(c));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  const Dims dims = c.in(0).dims;
  // With a scale per activation every one of them is a channel.
  const int64_t channels = static_cast<int64_t>(given.scale.size()), batch = dims[0];
  const int64_t plane = batch * channels == 0 ? 0 : c.in(0).size() / (batch * channels);
  std::vector<Doubles> statistics;  // running mean, running variance, batch mean, batch variance
  for (size_t i = 0; i < 4; ++i) {
    TN_ASSIGN_OR_RETURN(Doubles values, Doubles::filled(channels, 0.0, c.budget()));
    statistics.push_back(std::move(values));
  }
  const double keep = static_cast<double>(p.momentum);
  for (int64_t ch = 0; ch < channels; ++ch) {
    auto offset = [&](int64_t i) { return (i / plane * channels + ch) * plane + i % plane; };
    Moments moments{given.mean[ch], given.variance[ch]};
    if (p.training_mode) moments = Moments::of(batch * plane, [&](int64_t i) { return x[offset(i)]; });
    statistics[0][ch] = given.mean[ch] * keep + moments.mean * (1.0 - keep);
    statistics[1][ch] = given.variance[ch] * keep + moments.variance * (1.0 - keep);
    statistics[2][ch] = moments.mean;
    statistics[3][ch] = moments.variance;
    const double factor = moments.inverse_deviation(p.epsilon) * given.scale[ch];
    for_each_index(batch * plane,
                   [&](int64_t i) { y[offset(i)] = (x[offset(i)] - moments.mean) * factor + given.bias[ch]; });
  }
  y.store(c.out(0));
  for (size_t i = 1; i < c.output_count(); ++i)
    if (c.wants(i)) statistics[i - 1].store(c.out(i));
  return {};
}

// Blocks of neighbouring channels are standardized, then scaled and shifted per channel or per block.
Status normalize_channel_blocks(KernelContext& c, int64_t blocks_per_item, float epsilon) {
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles scale, read_doubles(c, 1));
  TN_ASSIGN_OR_RETURN(Doubles bias, read_doubles(c, 2));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  if (y.size() == 0) return {};
  const int64_t blocks = c.in(0).dims[0] * blocks_per_item, size = c.in(0).size() / blocks;
  const int64_t per_scale = size * blocks_per_item / static_cast<int64_t>(scale.size());
  for (int64_t block = 0; block < blocks; ++block) {
    const double* from = x.data() + block * size;
    const Moments moments = Moments::of(size, [&](int64_t i) { return from[i]; });
    const double factor = moments.inverse_deviation(epsilon);
    for_each_index(size, [&](int64_t i) {
      const int64_t channel = (block % blocks_per_item * size + i) / per_scale;
      const double normalized = round_to(c.out(0).dtype, (from[i] - moments.mean) * factor);
      y[block * size + i] = normalized * scale[channel] + bias[channel];
    });
  }
  y.store(c.out(0));
  return {};
}

// Rows over the axes from `axis` on; centered: around their mean, which is then output 1, else around zero. The last
// output is what rows are multiplied with.
Status normalize_rows(KernelContext& c, bool centered) {
  const auto& p = c.params<LayerNormalizationParams>();
  const TensorView &in = c.in(0), &out = c.out(0);
  if (out.size() == 0 && !c.wants(1) && !c.wants(2)) return {};
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles scale, read_doubles(c, 1));
  TN_ASSIGN_OR_RETURN(Doubles bias, read_doubles(c, 2));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(out.size(), 0.0, c.budget()));
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(p.axis, in.rank()));
  int64_t rows = 1, columns = 1;
  for (int64_t i = 0; i < in.rank(); ++i) (i < axis ? rows : columns) *= in.dims[static_cast<size_t>(i)];
  TN_ASSIGN_OR_RETURN(Doubles means, Doubles::filled(rows, 0.0, c.budget()));
  TN_ASSIGN_OR_RETURN(Doubles factors, Doubles::filled(rows, 0.0, c.budget()));
  for (int64_t row = 0; row < rows; ++row) {
    const double* from = x.data() + row * columns;
    Moments moments = Moments::of(columns, [&](int64_t i) { return from[i]; });
    if (!centered) moments = {0.0, moments.variance + moments.mean * moments.mean};
    means[row] = moments.mean;
    factors[row] = moments.inverse_deviation(p.epsilon);
  }
  const auto scale_strides = broadcast_strides(c.in(1).dims, in.dims);
  const auto bias_strides = bias.present() ? broadcast_strides(c.in(2).dims, in.dims) : scale_strides;
  for (Walker<2> w(in.dims, {scale_strides, bias_strides}); w.more(); w.next()) {
    const int64_t row = w.position() / columns;
    const double normalized = round_to(in.dtype, (x[w.position()] - means[row]) * factors[row]);
    y[w.position()] = normalized * scale[w.at(0)] + (bias.present() ? bias[w.at(1)] : 0.0);
  }
  y.store(out);
  if (centered && c.wants(1)) means.store(c.out(1));
  if (const size_t last = centered ? 2 : 1; c.wants(last)) factors.store(c.out(last));
  return {};
}

Status run_lp_normalization(KernelContext& c) {
  const auto& p = c.params<LpNormalizationParams>();
  if (c.out(0).size() == 0) return {};
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(p.axis, c.in(0).rank()));
  const AxisSplit split(c.in(0).dims, axis);
  for (int64_t line = 0; line < split.outer * split.inner; ++line) {
    const int64_t start = line / split.inner * split.extent * split.inner + line % split.inner;
    double norm = 0.0;
    for_each_index(split.extent, [&](int64_t i) {
      const double value = std::abs(x[start + i * split.inner]);
      norm += p.p == 1 ? value : value * value;
    });
    if (p.p == 2) norm = std::sqrt(norm);
    for_each_index(split.extent, [&](int64_t i) {
      y[start + i * split.inner] = norm == 0.0 ? 0.0 : x[start + i * split.inner] / norm;
    });
  }
  y.store(c.out(0));
  return {};
}

Status run_lrn(KernelContext& c) {
  const auto& p = c.params<LRNParams>();
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  const AxisSplit split(c.in(0).dims, 1);
  const int64_t before = (p.size - 1) / 2, after = p.size - 1 - before;
  const double factor = static_cast<double>(p.alpha) / static_cast<double>(p.size);
  WorkMeter meter;
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    const int64_t channel = i / split.inner % split.extent, line = i - channel * split.inner;
    const int64_t first = std::max<int64_t>(0, channel - before);
    const int64_t last = after >= split.extent - channel ? split.extent - 1 : channel + after;
    double squares = 0.0;
    meter.spend(last - first + 1);
    for (int64_t ch = first; ch <= last; ++ch) squares += x[line + ch * split.inner] * x[line + ch * split.inner];
    y[i] = x[i] / exact::pow(static_cast<double>(p.bias) + factor * squares, static_cast<double>(p.beta));
  }
  y.store(c.out(0));
  return {};
}

Status run_mean_variance_normalization(KernelContext& c) {
  const auto& p = c.params<MeanVarianceNormalizationParams>();
  const Dims dims = c.in(0).dims;
  if (c.out(0).size() == 0) return {};
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  std::vector<int64_t> kept(dims.begin(), dims.end());
  for (int64_t axis : p.axes) kept[static_cast<size_t>(axis < 0 ? axis + c.in(0).rank() : axis)] = 1;
  int64_t groups = 1;
  for (int64_t d : kept) groups *= d;
  const int64_t group_size = c.in(0).size() / groups;
  const auto count = static_cast<double>(group_size);
  const auto strides = broadcast_strides(kept, dims);
  TN_ASSIGN_OR_RETURN(Doubles mean, Doubles::filled(groups, 0.0, c.budget()));
  TN_ASSIGN_OR_RETURN(Doubles variance, Doubles::filled(groups, 0.0, c.budget()));
  for (Walker<1> w(dims, {strides}); w.more(); w.next()) mean[w.at(0)] += x[w.position()] / count;
  for (Walker<1> w(dims, {strides}); w.more(); w.next()) {
    y[w.position()] = x[w.position()] - mean[w.at(0)];
    variance[w.at(0)] += y[w.position()] * y[w.position()] / count;
  }
  // The definition keeps the divisor from zero by adding this to the deviation.
  constexpr double kLeastDeviation = 1e-9;
  for (Walker<1> w(dims, {strides}); p.normalize_variance && w.more(); w.next())
    y[w.position()] /= std::sqrt(variance[w.at(0)]) + kLeastDeviation;
  y.store(c.out(0));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::BatchNormalization>() {
  return run_batch_normalization;
}
template <>
KernelFunction reference_kernel<OpId::InstanceNormalization>() {
  return [](KernelContext& c) -> Status {
    return normalize_channel_blocks(c, c.in(0).dims[1], c.params<InstanceNormalizationParams>().epsilon);
  };
}
template <>
KernelFunction reference_kernel<OpId::GroupNormalization>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<GroupNormalizationParams>();
    return normalize_channel_blocks(c, p.num_groups, p.epsilon);
  };
}
template <>
KernelFunction reference_kernel<OpId::LayerNormalization>() {
  return [](KernelContext& c) -> Status { return normalize_rows(c, true); };
}
template <>
KernelFunction reference_kernel<OpId::RMSNormalization>() {
  return [](KernelContext& c) -> Status { return normalize_rows(c, false); };
}
template <>
KernelFunction reference_kernel<OpId::LpNormalization>() {
  return run_lp_normalization;
}
template <>
KernelFunction reference_kernel<OpId::LRN>() {
  return run_lrn;
}
template <>
KernelFunction reference_kernel<OpId::MeanVarianceNormalization>() {
  return run_mean_variance_normalization;
}

}  // namespace tenon
