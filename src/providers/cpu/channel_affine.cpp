// BatchNormalization that stands alone, and LpNormalization: floats, by rows.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/normalization.h"
#include "providers/cpu/dense_product.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/moved_elements.h"
#include "providers/cpu/rows.h"
#include "providers/reference/indexing.h"

namespace tenon {

namespace {

constexpr int64_t kScaledElements = 1 << 13;  // of a chunk, at least
constexpr int64_t kNormColumns = 1 << 10;
// Squares of other numbers overflow or vanish in a sum of floats.
constexpr float kLeastNorm = 1e-15f, kMostNorm = 1e15f;

struct AffineState {
  const RowFunctions* rows = nullptr;
  DenseFunctions<float> dense;
};

KernelState affine_state(Isa isa) {
  return {std::make_shared<AffineState>(AffineState{&row_functions(isa), dense_functions<float>(isa)})};
}

Result<KernelState> bind_batch_normalization(const BindRequest& request) {
  const auto& p = request.params.get<BatchNormalizationParams>();
  if (p.training_mode) return error(Code::Unsupported, "it computes the statistics of its input");
  for (size_t i = 1; i < request.outputs.size(); ++i)
    if (request.outputs[i].dtype != DType::Undefined) return error(Code::Unsupported, "it gives statistics");
  for (const TensorView& input : request.inputs)
    if (input.dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  const Dims dims = request.inputs[0].dims;
  if (dims.size() < 2 || request.inputs[1].size() != dims[1])
    return error(Code::Unsupported, "it has a scale for each activation");
  return affine_state(request.isa);
}

Status run_batch_normalization_planes(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& s = c.state<AffineState>();
  const Dims dims = c.in(0).dims;
  const int64_t channels = dims[1], plane = c.in(0).size() / (dims[0] * channels);
  const double epsilon = double{c.params<BatchNormalizationParams>().epsilon};
  const auto input = [&](size_t i) { return static_cast<const float*>(c.in(i).data); };
  const float *x = input(0), *scale = input(1), *bias = input(2), *mean = input(3), *variance = input(4);
  float* y = static_cast<float*>(c.out(0).data);
  const int64_t parts = ceil_div(plane, kScaledElements);
  in_chunks(c, dims[0] * channels * parts, kScaledElements / plane, [&](int64_t first, int64_t end) {
    poll_cancelled();
    for (int64_t i = first; i < end; ++i) {
      const int64_t channel = i / parts % channels, begin = i / parts * plane + i % parts * kScaledElements;
      const int64_t count = std::min(kScaledElements, plane - i % parts * kScaledElements);
      const auto factor = static_cast<float>(double{scale[channel]} / std::sqrt(double{variance[channel]} + epsilon));
      if (plane == 1) {
        y[begin] = (x[begin] - mean[channel]) * factor + bias[channel];
        continue;
      }
      s.rows->scale(x + begin, mean[channel], factor, y + begin, count);
      s.dense.scale(y + begin, count, 1, bias + channel, 0, 1);
    }
  });
  return {};
}

Result<KernelState> bind_lp_normalization(const BindRequest& request) {
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  return affine_state(request.isa);
}

struct NormalizedLines {
  AxisSplit split;
  bool squares;
  const float* x;
  float* y;

  // In double; lines whose norm is no good float come here.
  void exactly(int64_t start) const {
    double norm = 0;
    const auto at = [&](int64_t k) { return start + k * split.inner; };
    for_each_index(split.extent, [&](int64_t k) {
      const double value = std::abs(double{x[at(k)]});
      norm += squares ? value * value : value;
    });
    if (squares) norm = std::sqrt(norm);
    for_each_index(split.extent,
                   [&](int64_t k) { y[at(k)] = norm == 0 ? 0.0f : static_cast<float>(double{x[at(k)]} / norm); });
  }
  float norm(float sum) const { return squares ? std::sqrt(sum) : sum; }
  static bool is_good(float norm) { return norm >= kLeastNorm && norm <= kMostNorm; }
};

void normalize_line(const NormalizedLines& l, const RowFunctions& rows, int64_t line) {
  const int64_t extent = l.split.extent, start = line * extent;
  const auto what = l.squares ? Accumulation::SumOfSquares : Accumulation::SumOfSizes;
  const float norm = l.norm(rows.reduce(what, l.x + start, extent));
  if (!NormalizedLines::is_good(norm)) return l.exactly(start);
  rows.scale(l.x + start, 0, 1 / norm, l.y + start, extent);
}

void normalize_columns(const NormalizedLines& l, const RowFunctions& rows, int64_t start, int64_t count) {
  const auto what = l.squares ? Accumulation::SumOfSquares : Accumulation::SumOfSizes;
  const int64_t extent = l.split.extent, inner = l.split.inner;
  std::array<float, kNormColumns> sums, factors;
  std::fill_n(sums.begin(), count, 0.0f);
  WorkMeter meter;
  for (int64_t k = 0; k < extent; ++k) {
    meter.spend(count);
    rows.accumulate(what, l.x + start + k * inner, sums.data(), count);
  }
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    sums[i] = l.norm(sums[i]);
    factors[i] = 1 / sums[i];
  }
  for (int64_t k = 0; k < extent; ++k) {
    meter.spend(count);
    rows.normalize(l.x + start + k * inner, 0, 1, factors.data(), nullptr, l.y + start + k * inner, count);
  }
  for (int64_t i = 0; i < count; ++i)
    if (!NormalizedLines::is_good(sums[static_cast<size_t>(i)])) l.exactly(start + i);
}

Status run_lp_lines(KernelContext& c) {
  const auto& p = c.params<LpNormalizationParams>();
  if (c.out(0).size() == 0) return {};
  const int64_t rank = c.in(0).rank();
  const NormalizedLines lines{AxisSplit(c.in(0).dims, p.axis < 0 ? p.axis + rank : p.axis), p.p == 2,
                              static_cast<const float*>(c.in(0).data), static_cast<float*>(c.out(0).data)};
  const RowFunctions& rows = *c.state<AffineState>().rows;
  const auto [outer, extent, inner] = lines.split;
  if (inner == 1) {
    in_chunks(c, outer, kScaledElements / extent, [&](int64_t first, int64_t end) {
      poll_cancelled();
      for (int64_t i = first; i < end; ++i) normalize_line(lines, rows, i);
    });
    return {};
  }
  const int64_t parts = ceil_div(inner, kNormColumns), whole = extent * inner;
  in_chunks(c, outer * parts, kScaledElements / whole, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      const int64_t begin = i % parts * kNormColumns;
      normalize_columns(lines, rows, i / parts * whole + begin, std::min(kNormColumns, lines.split.inner - begin));
    }
  });
  return {};
}

}  // namespace

std::span<const Variant> batch_normalization_variants() {
  static const auto variants = with_reference(
      OpId::BatchNormalization, {{"planes", run_batch_normalization_planes, bind_batch_normalization, true}});
  return variants;
}

std::span<const Variant> lp_normalization_variants() {
  static const auto variants =
      with_reference(OpId::LpNormalization, {{"lines", run_lp_lines, bind_lp_normalization, true}});
  return variants;
}

}  // namespace tenon
