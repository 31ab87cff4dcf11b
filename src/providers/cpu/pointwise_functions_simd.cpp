// Steps of pointwise expressions that are transcendental functions.
#include <cmath>

#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pointwise_functions_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/pointwise_step_simd.h"
#include "providers/cpu/simd_math.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::pointwise_functions {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using namespace tenon::steps::HWY_NAMESPACE;

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

#if HWY_TARGET == HWY_AVX3
template <class Op>
void function(TENON_STEP_PARAMETERS) {
  const V alpha = number(step->numbers[0]), beta = number(step->numbers[1]);
  TENON_SET_VECTORS(Op::apply(x, alpha, beta))
  TENON_NEXT_STEP;
}
#else
// Sixteen registers are what a function needs for itself, so that the block waits in memory.
template <class Op>
void function(TENON_STEP_PARAMETERS) {
  const V alpha = number(step->numbers[0]), beta = number(step->numbers[1]);
  float* own = operand(step, at, 1);
  TENON_FOR_VECTORS(hn::StoreU(x, D(), own + i))
  for (int64_t k = 0; k < kBlock; k += kVector)
    hn::StoreU(Op::apply(hn::LoadU(D(), own + k), alpha, beta), D(), own + k);
  TENON_SET_VECTORS(hn::LoadU(D(), own + i))
  TENON_NEXT_STEP;
}
#endif

StepFunction pick_function(PointwiseOp op) {
  switch (op) {
#define FUNCTION(name)    \
  case PointwiseOp::name: \
    return function<name>;
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

PointwiseStep::Function pick(PointwiseOp op) { return function_of(pick_function(op)); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pointwise_functions
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pointwise_functions {
TENON_EXPORT(pick);
}
PointwiseStep::Function function_step(PointwiseOp op, Isa isa) {
  using namespace pointwise_functions;
  return TENON_DISPATCH(pick, isa)(op);
}
}  // namespace tenon
#endif
