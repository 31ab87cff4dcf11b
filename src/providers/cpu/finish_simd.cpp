#include <cstring>

#include "providers/cpu/finish.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/finish_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/activate_simd.h"
#include "providers/cpu/simd_math.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::finishing {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace math = tenon::simd::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

// Activations as functors: a lambda would not be compiled for the target.
struct Constants {
  explicit Constants(const FusedActivation& a) : alpha(hn::Set(D(), a.alpha)), beta(hn::Set(D(), a.beta)) {}
  V alpha, beta;
};

HWY_INLINE V number(float x) { return hn::Set(D(), x); }
HWY_INLINE V clip(V x, V least, V greatest) { return math::at_most(math::at_least(x, least), greatest); }

#define ACTIVATION(name, expression)                                                           \
  struct name {                                                                                \
    static HWY_INLINE V apply([[maybe_unused]] const Constants& c, V x) { return expression; } \
  }
ACTIVATION(None, x);
ACTIVATION(Relu, math::at_least(x, hn::Zero(D())));
ACTIVATION(Clip, clip(x, c.alpha, c.beta));
ACTIVATION(LeakyRelu, hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(c.alpha, x), x));
ACTIVATION(Elu, hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(c.alpha, math::exp_minus_one_below_zero(D(), x)), x));
ACTIVATION(Sigmoid, math::sigmoid(D(), x));
ACTIVATION(HardSigmoid, clip(hn::MulAdd(c.alpha, x, c.beta), number(0.0f), number(1.0f)));
ACTIVATION(Tanh, math::tanh(D(), x));
ACTIVATION(Gelu, math::gelu(D(), x));
// (1 + tanh(u)) / 2 is sigmoid(2 * u), which loses no digits below zero.
ACTIVATION(GeluTanh,
           hn::Mul(x, math::sigmoid(D(), hn::Mul(hn::Mul(number(1.5957691216f), x),
                                                 hn::MulAdd(hn::Mul(number(0.044715f), x), x, number(1.0f))))));
ACTIVATION(Silu, hn::Mul(x, math::sigmoid(D(), hn::Mul(c.alpha, x))));
ACTIVATION(HardSwish, math::hard_swish(D(), x));
#undef ACTIVATION

// Less than a vector; `each` is null or has a bias for each, and so is `addend`.
template <class Activation>
HWY_INLINE void finish_rest(const Constants& constants, const float* in, float* out, int64_t count, const Finish& f,
                            const float* each, const float* addend) {
  const D d;
  V x = hn::LoadU(d, in);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  // Masked lanes are not touched in memory.
  const auto mask = hn::FirstN(d, static_cast<size_t>(count));
  if (f.bias) x = hn::Add(x, each ? hn::MaskedLoad(mask, d, each) : hn::Set(d, f.bias[0]));
  if (addend) x = hn::Add(x, hn::MaskedLoad(mask, d, addend));
  hn::BlendedStore(Activation::apply(constants, x), mask, d, out);
#else
  HWY_ALIGN float rest[16] = {};
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  if (each) std::memcpy(rest, each, bytes);
  if (f.bias) x = hn::Add(x, each ? hn::Load(d, rest) : hn::Set(d, f.bias[0]));
  if (addend) {
    std::memcpy(rest, addend, bytes);
    x = hn::Add(x, hn::Load(d, rest));
  }
  hn::Store(Activation::apply(constants, x), d, rest);
  std::memcpy(out, rest, bytes);
#endif
}

template <class Activation>
HWY_ATTR void finish(const float* in, float* out, int64_t count, const Finish& f) {
  const D d;
  const Constants constants(f.activation);
  const bool each = f.bias && f.bias_step != 0;
  const V common = f.bias && !each ? hn::Set(d, f.bias[0]) : hn::Zero(d);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    V x = hn::LoadU(d, in + i);
    if (f.bias) x = hn::Add(x, each ? hn::LoadU(d, f.bias + i) : common);
    if (f.addend) x = hn::Add(x, hn::LoadU(d, f.addend + i));
    hn::StoreU(Activation::apply(constants, x), d, out + i);
  }
  if (i < count)
    finish_rest<Activation>(constants, in + i, out + i, count - i, f, each ? f.bias + i : nullptr,
                            f.addend ? f.addend + i : nullptr);
}

void finish_any(const float* in, float* out, int64_t count, const Finish& f) {
  switch (f.activation.kind) {
#define X(name, text)        \
  case ActivationKind::name: \
    return finish<name>(in, out, count, f);
    TENON_FUSED_ACTIVATIONS(X)
#undef X
  }
}

FinishFunction pick() { return finish_any; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::finishing
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace finishing {
TENON_EXPORT(pick);
}
FinishFunction finish_function(Isa isa) {
  using namespace finishing;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
