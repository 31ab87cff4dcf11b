// Steps of pointwise expressions that are computed in double: functions that lose too much in float.
#include <cmath>

#include "base/exact_math.h"
#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pointwise_wide_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/pointwise_step_simd.h"
#include "providers/cpu/simd_wide_math.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::pointwise_wide {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;
using namespace tenon::steps::HWY_NAMESPACE;

// Doubles, and as many floats.
using DW = hn::ScalableTag<double>;
using DN = hn::Rebind<float, DW>;
using W = hn::Vec<DW>;
constexpr int64_t kWide = static_cast<int64_t>(hn::MaxLanes(DW()));

HWY_INLINE W widened(const float* x) { return hn::PromoteTo(DW(), hn::LoadU(DN(), x)); }
HWY_INLINE void store_narrowed(W x, float* to) {
#if HWY_TARGET == HWY_SCALAR
  // Highway gives the largest number instead of infinity.
  *to = static_cast<float>(hn::GetLane(x));
#else
  hn::StoreU(hn::DemoteTo(DN(), x), DN(), to);
#endif
}

struct Sin {
  static HWY_INLINE W apply(W x) { return simd::wide_sin(DW(), x, 0); }
  static double of_large(double x) { return exact::sin(x); }
};
struct Cos {
  static HWY_INLINE W apply(W x) { return simd::wide_sin(DW(), x, 1); }
  static double of_large(double x) { return exact::cos(x); }
};

// Numbers that models hardly ever have.
template <class Op>
HWY_NOINLINE void replace_large(const float* x, float* y) {
  for (int64_t k = 0; k < kWide; ++k)
    if (!(std::fabs(x[k]) < simd::kWideSinLimit)) y[k] = static_cast<float>(Op::of_large(double{x[k]}));
}

template <class Op>
void periodic(TENON_STEP_PARAMETERS) {
  float* own = operand(step, at, 1);
  TENON_FOR_VECTORS(hn::StoreU(x, D(), own + i))
  const W limit = hn::Set(DW(), simd::kWideSinLimit);
  for (int64_t k = 0; k < kBlock; k += kWide) {
    const W x = widened(own + k);
    store_narrowed(Op::apply(x), own + kBlock);
    if (!hn::AllTrue(DW(), hn::Lt(hn::Abs(x), limit))) replace_large<Op>(own + k, own + kBlock);
    hn::StoreU(hn::LoadU(DN(), own + kBlock), DN(), own + k);
  }
  TENON_SET_VECTORS(hn::LoadU(D(), own + i))
  TENON_NEXT_STEP;
}

HWY_INLINE V root(V x) {
  const V infinity = hn::Set(D(), HUGE_VALF);
  // The root of -0 would be -0.
  return hn::IfThenElse(hn::Eq(x, hn::Neg(infinity)), infinity, hn::Sqrt(hn::Add(x, hn::Zero(D()))));
}

template <StepForm kForm>
HWY_INLINE void raise_all(float* own, const float* other) {
  const W number = hn::Set(DW(), double{other[0]});
  for (int64_t k = 0; k < kBlock; k += kWide) {
    const W x = widened(own + k);
    W y = kForm == StepForm::Itself ? x : number;
    if constexpr (kForm == StepForm::Memory || kForm == StepForm::MemoryFirst) y = widened(other + k);
    constexpr bool kIsFirst = kForm == StepForm::MemoryFirst || kForm == StepForm::NumberFirst;
    store_narrowed(kIsFirst ? simd::wide_pow(DW(), y, x) : simd::wide_pow(DW(), x, y), own + k);
  }
}

template <StepForm kForm>
void power(TENON_STEP_PARAMETERS) {
  float* own = operand(step, at, 1);
  const float* other = kForm == StepForm::Itself ? own : operand(step, at, 0);
  TENON_FOR_VECTORS(hn::StoreU(x, D(), own + i))
  raise_all<kForm>(own, other);
  TENON_SET_VECTORS(hn::LoadU(D(), own + i))
  TENON_NEXT_STEP;
}

// Models hardly ever have other powers than the first ones here. The exponent is looked at in a run, so that it can be
// a weight.
void power_of_number(TENON_STEP_PARAMETERS) {
  const float exponent = *reinterpret_cast<const float*>(step->places[0]);
  if (exponent == 2) {
    TENON_SET_VECTORS(hn::Mul(x, x))
  } else if (exponent == 3) {
    TENON_SET_VECTORS(hn::Mul(hn::Mul(x, x), x))
  } else if (exponent == 0.5f) {
    TENON_SET_VECTORS(root(x))
  } else if (exponent == -1) {
    TENON_SET_VECTORS(hn::Div(hn::Set(D(), 1.0f), x))
  } else {
    float* own = operand(step, at, 1);
    TENON_FOR_VECTORS(hn::StoreU(x, D(), own + i))
    raise_all<StepForm::Number>(own, &exponent);
    TENON_SET_VECTORS(hn::LoadU(D(), own + i))
  }
  TENON_NEXT_STEP;
}

StepFunction power_in_form(StepForm form) {
  switch (form) {
    case StepForm::Itself:
      return power<StepForm::Itself>;
    case StepForm::Memory:
      return power<StepForm::Memory>;
    case StepForm::Number:
      return power_of_number;
    case StepForm::MemoryFirst:
      return power<StepForm::MemoryFirst>;
    case StepForm::NumberFirst:
      return power<StepForm::NumberFirst>;
  }
  return nullptr;
}

PointwiseStep::Function pick(PointwiseOp op, StepForm form) {
  switch (op) {
    case PointwiseOp::Cos:
      return form == StepForm::Itself ? function_of(periodic<Cos>) : nullptr;
    case PointwiseOp::Pow:
      return function_of(power_in_form(form));
    case PointwiseOp::Sin:
      return form == StepForm::Itself ? function_of(periodic<Sin>) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pointwise_wide
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pointwise_wide {
HWY_EXPORT(pick);
}
PointwiseStep::Function wide_step(PointwiseOp op, StepForm form, Isa isa) {
  using namespace pointwise_wide;
  return TENON_DISPATCH(pick, isa)(op, form);
}
}  // namespace tenon
#endif
