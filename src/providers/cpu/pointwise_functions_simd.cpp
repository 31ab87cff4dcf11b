// Instructions of pointwise expressions that are transcendental functions, and conversions of 16-bit floats.
#include <cmath>

#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pointwise_functions_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_math.h"
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::pointwise_functions {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

HWY_INLINE V number(float x) { return hn::Set(D(), x); }
HWY_INLINE V below_zero_else(V x, V below) { return hn::IfThenElse(hn::Lt(x, hn::Zero(D())), below, x); }
// exp(x) - 1 below zero; what it gives elsewhere is of no use.
HWY_INLINE V falling(V x) { return simd::exp_minus_one_below_zero(D(), x); }

// tanh(log(1 + e)) of e = exp(x), written as a quotient that loses no digits of small e.
HWY_INLINE V mish(V x) {
  const V e = simd::exp(D(), hn::Min(x, number(30.0f)));
  const V n = hn::Mul(e, hn::Add(e, number(2.0f)));
  const V y = hn::Mul(x, hn::Div(n, hn::Add(n, number(2.0f))));
  return hn::IfThenElse(hn::Le(x, number(30.0f)), y, x);
}

// Operations as functors: a lambda would not be compiled for the target.
#define FUNCTION(name, expression)                                                                           \
  struct name {                                                                                              \
    static HWY_INLINE V apply(V x, [[maybe_unused]] V alpha, [[maybe_unused]] V beta) { return expression; } \
  };
FUNCTION(Celu, below_zero_else(x, hn::Mul(alpha, falling(hn::Div(x, alpha)))))
FUNCTION(Elu, below_zero_else(x, hn::Mul(alpha, falling(x))))
FUNCTION(Erf, simd::erf(D(), x))
FUNCTION(Exp, simd::exp(D(), x))
FUNCTION(Gelu, simd::gelu(D(), x))
// (1 + tanh(u)) / 2 is sigmoid(2 * u), which loses no digits below zero.
FUNCTION(GeluTanh, hn::Mul(x, simd::sigmoid(D(), hn::Mul(hn::Mul(number(1.5957691216f), x),
                                                         hn::MulAdd(hn::Mul(number(0.044715f), x), x, number(1.0f))))))
FUNCTION(Log, simd::log(D(), x))
FUNCTION(Mish, mish(x))
FUNCTION(Selu, hn::Mul(beta, below_zero_else(x, hn::Mul(alpha, falling(x)))))
FUNCTION(Sigmoid, simd::sigmoid(D(), x))
FUNCTION(Silu, hn::Mul(x, simd::sigmoid(D(), hn::Mul(alpha, x))))
FUNCTION(Softplus, simd::softplus(D(), x))
FUNCTION(Tanh, simd::tanh(D(), x))
#undef FUNCTION

template <class Op>
void run_function(const float* const* operands, float* out, int64_t count, const float* numbers) {
  const D d;
  const V alpha = number(numbers[0]), beta = number(numbers[1]);
  const float* x = operands[0];
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(Op::apply(hn::LoadU(d, x + i), alpha, beta), d, out + i);
  if (i < count) simd::store_rest(d, Op::apply(simd::load_rest(d, x + i, count - i), alpha, beta), out + i, count - i);
}

PointwiseFunction pick(PointwiseOp op) {
  switch (op) {
#define FUNCTION(name)    \
  case PointwiseOp::name: \
    return run_function<name>;
    FUNCTION(Celu)
    FUNCTION(Elu)
    FUNCTION(Erf)
    FUNCTION(Exp)
    FUNCTION(Gelu)
    FUNCTION(GeluTanh)
    FUNCTION(Log)
    FUNCTION(Mish)
    FUNCTION(Selu)
    FUNCTION(Sigmoid)
    FUNCTION(Silu)
    FUNCTION(Softplus)
    FUNCTION(Tanh)
#undef FUNCTION
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pointwise_functions
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pointwise_functions {
TENON_EXPORT(pick);
}
PointwiseFunction function_tile(PointwiseOp op, Isa isa) {
  using namespace pointwise_functions;
  return TENON_DISPATCH(pick, isa)(op);
}
}  // namespace tenon
#endif
