// Reductions over any axes: a row at a time where the last axis goes, columns side by side where it stays.
#include "ops/reduction.h"

#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/long_rows.h"
#include "providers/cpu/reduced_axes.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

constexpr int64_t kReducedElements = 1 << 14;  // elements, at least
constexpr int64_t kReducedColumns = 1 << 12;

struct ReductionState {
  const RowFunctions* rows = nullptr;
};

Result<KernelState> bind_reduction(const BindRequest& request) {
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  if (request.inputs[0].dims.size() > kMostReducedAxes)
    return error(Code::Unsupported, "it has more than {} axes", kMostReducedAxes);
  const int64_t chunks = std::max<int64_t>(1, ceil_div(request.inputs[0].size(), kReducedElements));
  return KernelState{std::make_shared<ReductionState>(&row_functions(request.isa)), 0, chunks};
}

struct Reduction {
  Accumulation what;
  float first;                                // what nothing at all gives
  float (*finish)(float value, float count);  // null: nothing
};

class ReductionRun {
 public:
  ReductionRun(KernelContext& c, const Reduction& how)
      : c_(c), f_(*c.state<ReductionState>().rows), how_(how), axes_(c), x_(static_cast<const float*>(c.in(0).data)),
        y_(static_cast<float*>(c.out(0).data)) {}

  void run() {
    if (c_.out(0).size() == 0) return;
    if (axes_.taken == 0)
      std::fill_n(y_, axes_.results, finished(how_.first));
    else if (axes_.last.goes)
      run_rows();
    else
      run_columns();
  }

 private:
  float finished(float value) const {
    return how_.finish ? how_.finish(value, static_cast<float>(axes_.taken)) : value;
  }

  void run_rows() {
    const int64_t per_chunk = std::max<int64_t>(1, kReducedElements / axes_.taken);
    c_.parallel_for(ceil_div(axes_.results, per_chunk), [&](int64_t chunk) {
      const int64_t first = chunk * per_chunk, end = std::min(axes_.results, first + per_chunk);
      ReducedWalk kept(axes_.kept, first);
      WorkMeter meter;
      for (int64_t i = first; i < end; ++i, kept.next()) {
        ReducedWalk gone(axes_.gone);
        float value = f_.reduce(how_.what, x_ + kept.offset() + gone.offset(), axes_.last.extent);
        while (gone.next()) {
          meter.spend(axes_.last.extent);
          value = joined(how_.what, value, f_.reduce(how_.what, x_ + kept.offset() + gone.offset(), axes_.last.extent));
        }
        y_[i] = finished(value);
      }
    });
  }

  void run_columns() {
    const int64_t groups = ceil_div(axes_.last.extent, kReducedColumns), outer = axes_.results / axes_.last.extent;
    c_.parallel_for(outer * groups, [&](int64_t chunk) {
      const int64_t first = chunk % groups * kReducedColumns,
                    count = std::min(kReducedColumns, axes_.last.extent - first);
      const ReducedWalk kept(axes_.kept, chunk / groups);
      ReducedWalk gone(axes_.gone);
      float* sums = y_ + chunk / groups * axes_.last.extent + first;
      std::fill_n(sums, count, how_.first);
      WorkMeter meter;
      do {
        f_.functions().accumulate(how_.what, x_ + kept.offset() + gone.offset() + first, sums, count);
        meter.spend(count);
      } while (gone.next());
      if (how_.finish)
        for (int64_t i = 0; i < count; ++i) sums[i] = finished(sums[i]);
    });
  }

  KernelContext& c_;
  const LongRows f_;
  const Reduction& how_;
  ReducedAxes axes_;
  const float* x_;
  float* y_;
};

float root(float value, float) { return std::sqrt(value); }
float logarithm(float value, float) { return std::log(value); }
float mean(float value, float count) { return value / count; }

constexpr Reduction kL1{Accumulation::SumOfSizes, 0, nullptr}, kL2{Accumulation::SumOfSquares, 0, root},
    kLogSum{Accumulation::Sum, 0, logarithm}, kMax{Accumulation::Largest, -HUGE_VALF, nullptr},
    kMean{Accumulation::Sum, 0, mean}, kMin{Accumulation::Smallest, HUGE_VALF, nullptr},
    kProd{Accumulation::Product, 1, nullptr}, kSum{Accumulation::Sum, 0, nullptr},
    kSumSquare{Accumulation::SumOfSquares, 0, nullptr};

template <const Reduction& kHow>
Status run_reduction(KernelContext& c) {
  ReductionRun(c, kHow).run();
  return {};
}

}  // namespace

std::span<const Variant> reduction_variants(OpId op) {
#define REDUCTION(name)                                                                                        \
  case OpId::Reduce##name: {                                                                                   \
    static const auto variants = with_reference(op, {{"rows", run_reduction<k##name>, bind_reduction, true}}); \
    return variants;                                                                                           \
  }
  switch (op) {
    REDUCTION(L1)
    REDUCTION(L2)
    REDUCTION(LogSum)
    REDUCTION(Max)
    REDUCTION(Mean)
    REDUCTION(Min)
    REDUCTION(Prod)
    REDUCTION(Sum)
    REDUCTION(SumSquare)
    default:
      return {};
  }
#undef REDUCTION
}

}  // namespace tenon
