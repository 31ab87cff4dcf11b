// ReduceLogSumExp of floats. The largest element of each result is found first, so that nothing overflows.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/long_rows.h"
#include "providers/cpu/reduced_axes.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

constexpr int64_t kLogElements = 1 << 14;  // of a chunk, at least
constexpr int64_t kLogColumns = 1 << 10;

struct LogSumState {
  const RowFunctions* rows = nullptr;
};

Result<KernelState> bind_log_sum(const BindRequest& request) {
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  if (request.inputs[0].dims.size() > kMostReducedAxes)
    return error(Code::Unsupported, "it has more than {} axes", kMostReducedAxes);
  return KernelState{std::make_shared<LogSumState>(&row_functions(request.isa))};
}

// What exponents are taken relative to: infinities and NaN give the right sums by themselves.
float shift_of(float largest) { return std::isfinite(largest) ? largest : 0.0f; }

class LogSumRun {
 public:
  explicit LogSumRun(KernelContext& c)
      : c_(c), f_(*c.state<LogSumState>().rows), axes_(c), x_(static_cast<const float*>(c.in(0).data)),
        y_(static_cast<float*>(c.out(0).data)) {}

  void run() {
    if (axes_.taken == 0)
      std::fill_n(y_, axes_.results, -HUGE_VALF);
    else if (axes_.last.goes)
      run_rows();
    else
      run_columns();
  }

 private:
  void run_rows() {
    const int64_t per_chunk = std::max<int64_t>(1, kLogElements / axes_.taken);
    c_.parallel_for(ceil_div(axes_.results, per_chunk), [&](int64_t chunk) {
      const int64_t first = chunk * per_chunk, end = std::min(axes_.results, first + per_chunk);
      ReducedWalk kept(axes_.kept, first);
      for (int64_t i = first; i < end; ++i, kept.next()) y_[i] = row(x_ + kept.offset());
    });
  }

  float row(const float* x) const {
    float largest = -HUGE_VALF, sum = 0;
    WorkMeter meter;
    const auto for_each_piece = [&](const auto& f) {
      ReducedWalk gone(axes_.gone);
      do {
        meter.spend(axes_.last.extent);
        f(x + gone.offset());
      } while (gone.next());
    };
    for_each_piece([&](const float* piece) {
      largest = joined(Accumulation::Largest, largest, f_.reduce(Accumulation::Largest, piece, axes_.last.extent));
    });
    const float shift = shift_of(largest);
    for_each_piece([&](const float* piece) { sum += f_.sum_of_exponentials(piece, shift, axes_.last.extent); });
    return std::log(sum) + shift;
  }

  void run_columns() {
    const int64_t groups = ceil_div(axes_.last.extent, kLogColumns), outer = axes_.results / axes_.last.extent;
    c_.parallel_for(outer * groups, [&](int64_t chunk) {
      const int64_t first = chunk % groups * kLogColumns, count = std::min(kLogColumns, axes_.last.extent - first);
      const ReducedWalk kept(axes_.kept, chunk / groups);
      columns(x_ + kept.offset() + first, count, y_ + chunk / groups * axes_.last.extent + first);
    });
  }

  void columns(const float* x, int64_t count, float* sums) const {
    std::array<float, kLogColumns> shifts;
    WorkMeter meter;
    const auto for_each_row = [&](const auto& f) {
      ReducedWalk gone(axes_.gone);
      do {
        meter.spend(count);
        f(x + gone.offset());
      } while (gone.next());
    };
    std::fill_n(shifts.begin(), count, -HUGE_VALF);
    for_each_row(
        [&](const float* from) { f_.functions().accumulate(Accumulation::Largest, from, shifts.data(), count); });
    std::transform(shifts.begin(), shifts.begin() + count, shifts.begin(), shift_of);
    std::fill_n(sums, count, 0.0f);
    for_each_row(
        [&](const float* from) { f_.functions().column_exponentials(from, shifts.data(), sums, nullptr, count); });
    for (int64_t i = 0; i < count; ++i) sums[i] = std::log(sums[i]) + shifts[static_cast<size_t>(i)];
  }

  KernelContext& c_;
  const LongRows f_;
  const ReducedAxes axes_;
  const float* x_;
  float* y_;
};

Status run_log_sum(KernelContext& c) {
  if (c.out(0).size() > 0) LogSumRun(c).run();
  return {};
}

}  // namespace

std::span<const Variant> reduce_log_sum_exp_variants() {
  static const auto variants = with_reference(OpId::ReduceLogSumExp, {{"rows", run_log_sum, bind_log_sum, true}});
  return variants;
}

}  // namespace tenon
