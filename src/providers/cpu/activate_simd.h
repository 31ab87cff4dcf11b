// Activations of sums in registers. Included once per target, outside of HWY_BEFORE_NAMESPACE, so there is no #pragma
// once.
#if defined(TENON_CPU_ACTIVATE_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ACTIVATE_SIMD
#undef TENON_CPU_ACTIVATE_SIMD
#else
#define TENON_CPU_ACTIVATE_SIMD
#endif

#include <hwy/highway.h>

#include "ops/fused_activation.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// NaN stays NaN.
template <class V>
HWY_INLINE V at_least(V x, V least) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  return hn::Max(least, x);  // the second operand when either is NaN
#else
  return hn::IfThenElse(hn::Lt(x, least), least, x);
#endif
}
template <class V>
HWY_INLINE V at_most(V x, V greatest) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  return hn::Min(greatest, x);
#else
  return hn::IfThenElse(hn::Gt(x, greatest), greatest, x);
#endif
}

// The sum keeps its digits near -3, where those of x / 6 + 1 / 2 cancel.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V hard_swish(D d, V x) {
  const V gate = at_most(at_least(hn::Add(x, hn::Set(d, 3.0f)), hn::Zero(d)), hn::Set(d, 6.0f));
  return hn::Mul(hn::Mul(x, hn::Set(d, 1.0f / 6)), gate);
}

// Applies the activations of applied_in_registers() (finish.h); others, and null, leave sums as they are.
template <class D, size_t Count>
HWY_INLINE void activate(D d, const FusedActivation* activation, hn::Vec<D> (&sums)[Count]) {
  if (!activation || activation->kind == ActivationKind::None) return;
  const auto zero = hn::Zero(d);
  if (activation->kind == ActivationKind::Relu) {
#pragma GCC unroll 64
    for (auto& x : sums) x = at_least(x, zero);
  } else if (activation->kind == ActivationKind::Clip) {
    const auto least = hn::Set(d, activation->alpha), greatest = hn::Set(d, activation->beta);
#pragma GCC unroll 64
    for (auto& x : sums) x = at_most(at_least(x, least), greatest);
  } else if (activation->kind == ActivationKind::HardSwish) {
#pragma GCC unroll 64
    for (auto& x : sums) x = hard_swish(d, x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::simd
HWY_AFTER_NAMESPACE();

#endif
