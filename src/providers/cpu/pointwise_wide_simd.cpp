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
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // Highway gives the largest number instead of infinity.
  double numbers[kWide];
  hn::StoreU(x, DW(), numbers);
  for (int64_t i = 0; i < kWide; ++i) to[i] = static_cast<float>(numbers[i]);
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

struct Tan {
  static HWY_INLINE W apply(W x) { return hn::Div(simd::wide_sin(DW(), x, 0), simd::wide_sin(DW(), x, 1)); }
  static double of_large(double x) { return exact::tan(x); }
};

HWY_INLINE W wide(double x) { return hn::Set(DW(), x); }
HWY_INLINE W nan_outside(hn::Mask<DW> is_inside, W y) { return hn::IfThenElse(is_inside, y, wide(__builtin_nan(""))); }
// Odd functions that are x near zero, where their formulas lose digits.
HWY_INLINE W itself_near_zero(W x, W y) {
  return hn::IfThenElse(hn::Ge(hn::Abs(x), wide(1e-4)), hn::CopySign(y, x), x);
}

#define FUNCTION(name, expression)                        \
  struct name {                                           \
    static HWY_INLINE W apply(W x) { return expression; } \
  };
FUNCTION(Acos, hn::Mul(wide(2), simd::wide_atan(DW(), hn::Sqrt(hn::Div(hn::Sub(wide(1), x), hn::Add(wide(1), x))))))
FUNCTION(Acosh, nan_outside(hn::Ge(x, wide(1)), simd::wide_log(DW(), hn::Add(x, hn::Sqrt(hn::MulSub(x, x, wide(1)))))))
FUNCTION(Asin, simd::wide_atan(DW(), hn::Div(x, hn::Sqrt(hn::NegMulAdd(x, x, wide(1))))))
FUNCTION(Asinh, itself_near_zero(x, simd::wide_log(DW(), hn::Add(hn::Abs(x), hn::Sqrt(hn::MulAdd(x, x, wide(1)))))))
FUNCTION(Atan, simd::wide_atan(DW(), x))
FUNCTION(Atanh, nan_outside(hn::Le(hn::Abs(x), wide(1)),
                            itself_near_zero(x, hn::Mul(wide(0.5),
                                                        simd::wide_log(DW(), hn::Div(hn::Add(wide(1), hn::Abs(x)),
                                                                                     hn::Sub(wide(1), hn::Abs(x))))))))
FUNCTION(Cosh, nan_outside(hn::Eq(x, x),
                           hn::Mul(wide(0.5), hn::Add(simd::wide_exp(DW(), x), simd::wide_exp(DW(), hn::Neg(x))))))
FUNCTION(Sinh, itself_near_zero(x, hn::Mul(wide(0.5), hn::Sub(simd::wide_exp(DW(), hn::Abs(x)),
                                                              simd::wide_exp(DW(), hn::Neg(hn::Abs(x)))))))
#undef FUNCTION

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

template <class Op>
void alone(TENON_STEP_PARAMETERS) {
  float* own = operand(step, at, 1);
  TENON_FOR_VECTORS(hn::StoreU(x, D(), own + i))
  for (int64_t k = 0; k < kBlock; k += kWide) store_narrowed(Op::apply(widened(own + k)), own + k);
  TENON_SET_VECTORS(hn::LoadU(D(), own + i))
  TENON_NEXT_STEP;
}

HWY_INLINE V root_of_narrow(V x) {
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
    TENON_SET_VECTORS(root_of_narrow(x))
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

StepFunction pick_alone(PointwiseOp op) {
  switch (op) {
#define FUNCTION(name)    \
  case PointwiseOp::name: \
    return alone<name>;
    FUNCTION(Acos)
    FUNCTION(Acosh)
    FUNCTION(Asin)
    FUNCTION(Asinh)
    FUNCTION(Atan)
    FUNCTION(Atanh)
    FUNCTION(Cosh)
    FUNCTION(Sinh)
#undef FUNCTION
    case PointwiseOp::Cos:
      return periodic<Cos>;
    case PointwiseOp::Sin:
      return periodic<Sin>;
    case PointwiseOp::Tan:
      return periodic<Tan>;
    default:
      return nullptr;
  }
}

PointwiseStep::Function pick(PointwiseOp op, StepForm form) {
  if (op == PointwiseOp::Pow) return function_of(power_in_form(form));
  return form == StepForm::Itself ? function_of(pick_alone(op)) : nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pointwise_wide
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pointwise_wide {
TENON_EXPORT(pick);
}
PointwiseStep::Function wide_step(PointwiseOp op, StepForm form, Isa isa) {
  using namespace pointwise_wide;
  return TENON_DISPATCH(pick, isa)(op, form);
}
}  // namespace tenon
#endif
