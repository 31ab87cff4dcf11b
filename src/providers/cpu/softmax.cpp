#include "ops/softmax.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/long_rows.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// Elements of a chunk, at least.
constexpr int64_t kSoftmaxElements = 1 << 13;
// Neighbouring lines that are computed side by side where the axis is not the last one.
constexpr int64_t kSoftmaxColumns = 64;

struct SoftmaxState {
  const RowFunctions* rows = nullptr;
};

Result<KernelState> bind_softmax(const BindRequest& request) {
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  const int64_t scratch = 2 * kSoftmaxColumns * static_cast<int64_t>(sizeof(float));
  return KernelState{std::make_shared<SoftmaxState>(&row_functions(request.isa)), scratch};
}

// Lines along an axis: `extent` elements, `inner` apart.
struct Lines {
  int64_t outer = 1, extent = 1, inner = 1;
  Lines(Dims dims, int64_t axis) {
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t at = axis < 0 ? axis + std::max<int64_t>(rank, 1) : axis;
    for (int64_t i = 0; i < rank; ++i) (i < at ? outer : i == at ? extent : inner) *= dims[static_cast<size_t>(i)];
  }
};

template <bool kLog>
void compute_row(const LongRows& f, const float* x, float* y, int64_t count) {
  const float largest = f.reduce(Accumulation::Largest, x, count);
  if constexpr (kLog) {
    const float sum = f.sum_of_exponentials(x, largest, count);
    f.scale(x, largest + std::log(sum), 1, y, count);
  } else {
    const float sum = f.exponentials(x, largest, y, count);
    f.scale(y, 0, 1 / sum, y, count);
  }
}

// `count` lines side by side.
template <bool kLog>
void compute_columns(const RowFunctions& f, const float* x, float* y, const Lines& lines, int64_t count,
                     float* scratch) {
  float *largest = scratch, *sums = scratch + kSoftmaxColumns;
  std::fill_n(largest, count, -HUGE_VALF);
  std::fill_n(sums, count, 0.0f);
  WorkMeter meter;
  for (int64_t i = 0; i < lines.extent; ++i, meter.spend(count))
    f.accumulate(Accumulation::Largest, x + i * lines.inner, largest, count);
  for (int64_t i = 0; i < lines.extent; ++i, meter.spend(count))
    f.column_exponentials(x + i * lines.inner, largest, sums, kLog ? nullptr : y + i * lines.inner, count);
  for (int64_t j = 0; j < count; ++j) sums[j] = kLog ? largest[j] + std::log(sums[j]) : 1 / sums[j];
  for (int64_t i = 0; i < lines.extent; ++i, meter.spend(count)) {
    const float* from = x + i * lines.inner;
    float* to = y + i * lines.inner;
    for (int64_t j = 0; j < count; ++j) to[j] = kLog ? from[j] - sums[j] : to[j] * sums[j];
  }
}

template <bool kLog>
Status run_softmax(KernelContext& c) {
  const LongRows f(*c.state<SoftmaxState>().rows);
  const float* x = static_cast<const float*>(c.in(0).data);
  float* y = static_cast<float*>(c.out(0).data);
  if (c.in(0).size() == 0) return {};
  const Lines lines(c.in(0).dims, c.params<SoftmaxParams>().axis);
  if (lines.inner == 1) {
    const int64_t rows = std::max<int64_t>(1, kSoftmaxElements / lines.extent);
    c.parallel_for(ceil_div(lines.outer, rows), [&](int64_t chunk) {
      const int64_t end = std::min(lines.outer, (chunk + 1) * rows);
      for (int64_t row = chunk * rows; row < end; ++row)
        compute_row<kLog>(f, x + row * lines.extent, y + row * lines.extent, lines.extent);
    });
    return {};
  }
  const int64_t groups = ceil_div(lines.inner, kSoftmaxColumns);
  c.parallel_for(lines.outer * groups, [&](int64_t chunk) {
    const int64_t first = chunk % groups * kSoftmaxColumns;
    const int64_t offset = chunk / groups * lines.extent * lines.inner + first;
    compute_columns<kLog>(f.functions(), x + offset, y + offset, lines, std::min(kSoftmaxColumns, lines.inner - first),
                          c.scratch<float>());
  });
  return {};
}

}  // namespace

std::span<const Variant> softmax_variants() {
  static const auto variants = with_reference(OpId::Softmax, {{"lines", run_softmax<false>, bind_softmax, true}});
  return variants;
}

std::span<const Variant> log_softmax_variants() {
  static const auto variants = with_reference(OpId::LogSoftmax, {{"lines", run_softmax<true>, bind_softmax, true}});
  return variants;
}

}  // namespace tenon
