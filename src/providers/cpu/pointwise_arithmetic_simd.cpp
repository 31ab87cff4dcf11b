// Instructions of pointwise expressions that take a few operations: arithmetic, comparisons, choices.
#include <cmath>

#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pointwise_arithmetic_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::pointwise_arithmetic {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

HWY_INLINE V number(float x) { return hn::Set(D(), x); }
HWY_INLINE V truth(M m) { return hn::IfThenElseZero(m, number(1.0f)); }
// NaN is unequal to everything, also where Highway's Ne says that it is not.
HWY_INLINE M is_nan(V x) { return hn::Not(hn::Eq(x, x)); }
HWY_INLINE M is_true(V x) { return hn::Not(hn::Eq(x, hn::Zero(D()))); }
// NaN wins, whichever operand it is. Targets differ in what Min and Max make of it.
HWY_INLINE V largest(V a, V b) { return hn::IfThenElse(hn::Or(hn::Gt(a, b), is_nan(a)), a, b); }
HWY_INLINE V smallest(V a, V b) { return hn::IfThenElse(hn::Or(hn::Lt(a, b), is_nan(a)), a, b); }
HWY_INLINE V at_least(V x, V least) { return hn::IfThenElse(hn::Lt(x, least), least, x); }
HWY_INLINE V at_most(V x, V greatest) { return hn::IfThenElse(hn::Gt(x, greatest), greatest, x); }

// Operations as functors: a lambda would not be compiled for the target.
#define UNARY(name, expression)                                                                              \
  struct name {                                                                                              \
    static HWY_INLINE V apply(V x, [[maybe_unused]] V alpha, [[maybe_unused]] V beta) { return expression; } \
  };
UNARY(Abs, hn::Abs(x))
UNARY(Ceil, hn::Ceil(x))
UNARY(ClipTo, at_most(at_least(x, alpha), beta))
UNARY(Floor, hn::Floor(x))
UNARY(HardSigmoid, at_most(at_least(hn::MulAdd(alpha, x, beta), hn::Zero(D())), number(1.0f)))
UNARY(HardSwish,
      hn::Mul(x, at_most(at_least(hn::MulAdd(x, number(1.0f / 6), number(0.5f)), hn::Zero(D())), number(1.0f))))
UNARY(IsInf, hn::Add(hn::IfThenElseZero(hn::Eq(x, number(HUGE_VALF)), alpha),
                     hn::IfThenElseZero(hn::Eq(x, number(-HUGE_VALF)), beta)))
UNARY(IsNaN, truth(is_nan(x)))
UNARY(LeakyRelu, hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(alpha, x), x))
UNARY(Neg, hn::Neg(x))
UNARY(Not, truth(hn::Eq(x, hn::Zero(D()))))
UNARY(Reciprocal, hn::Div(number(1.0f), x))
UNARY(Relu, hn::IfThenZeroElse(hn::Lt(x, hn::Zero(D())), x))
UNARY(Round, hn::Round(x))
UNARY(Same, x)
UNARY(Shrink, hn::IfThenElse(hn::Lt(x, hn::Neg(beta)), hn::Add(x, alpha),
                             hn::IfThenElseZero(hn::Gt(x, beta), hn::Sub(x, alpha))))
UNARY(Sign, hn::IfThenElse(hn::Gt(x, hn::Zero(D())), number(1.0f),
                           hn::IfThenElse(hn::Lt(x, hn::Zero(D())), number(-1.0f), x)))
UNARY(Softsign, hn::Div(x, hn::Add(number(1.0f), hn::Abs(x))))
UNARY(Sqrt, hn::Sqrt(x))
UNARY(Square, hn::Mul(x, x))
UNARY(ThresholdedRelu, hn::IfThenElseZero(hn::Gt(x, alpha), x))
UNARY(Truth, truth(is_true(x)))
#undef UNARY

#define BINARY(name, expression)                               \
  struct name {                                                \
    static HWY_INLINE V apply(V x, V y) { return expression; } \
  };
BINARY(Add, hn::Add(x, y))
BINARY(And, truth(hn::And(is_true(x), is_true(y))))
BINARY(Div, hn::Div(x, y))
BINARY(Equal, truth(hn::Eq(x, y)))
BINARY(Greater, truth(hn::Gt(x, y)))
BINARY(GreaterOrEqual, truth(hn::Ge(x, y)))
BINARY(Less, truth(hn::Lt(x, y)))
BINARY(LessOrEqual, truth(hn::Le(x, y)))
BINARY(Max, largest(x, y))
BINARY(Min, smallest(x, y))
BINARY(Mul, hn::Mul(x, y))
BINARY(Or, truth(hn::Or(is_true(x), is_true(y))))
BINARY(PRelu, hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(x, y), x))
BINARY(Sub, hn::Sub(x, y))
BINARY(Xor, hn::Abs(hn::Sub(truth(is_true(x)), truth(is_true(y)))))
#undef BINARY

struct Where {
  static HWY_INLINE V apply(V condition, V x, V y) { return hn::IfThenElse(is_true(condition), x, y); }
};
struct Clip {
  static HWY_INLINE V apply(V x, V least, V greatest) { return at_most(at_least(x, least), greatest); }
};

template <class Op>
void run_unary(const float* const* operands, float* out, int64_t count, const float* numbers) {
  const D d;
  const V alpha = number(numbers[0]), beta = number(numbers[1]);
  const float* HWY_RESTRICT x = operands[0];
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(Op::apply(hn::LoadU(d, x + i), alpha, beta), d, out + i);
  if (i < count) simd::store_rest(d, Op::apply(simd::load_rest(d, x + i, count - i), alpha, beta), out + i, count - i);
}

template <class Op>
void run_binary(const float* const* operands, float* out, int64_t count, const float*) {
  const D d;
  const float *x = operands[0], *y = operands[1];
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector)
    hn::StoreU(Op::apply(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, out + i);
  if (i < count)
    simd::store_rest(d, Op::apply(simd::load_rest(d, x + i, count - i), simd::load_rest(d, y + i, count - i)), out + i,
                     count - i);
}

template <class Op>
void run_number_first(const float* const* operands, float* out, int64_t count, const float*) {
  const D d;
  const float* y = operands[1];
  const V x = number(operands[0][0]);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(Op::apply(x, hn::LoadU(d, y + i)), d, out + i);
  if (i < count) simd::store_rest(d, Op::apply(x, simd::load_rest(d, y + i, count - i)), out + i, count - i);
}

template <class Op>
void run_number_second(const float* const* operands, float* out, int64_t count, const float*) {
  const D d;
  const float* x = operands[0];
  const V y = number(operands[1][0]);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(Op::apply(hn::LoadU(d, x + i), y), d, out + i);
  if (i < count) simd::store_rest(d, Op::apply(simd::load_rest(d, x + i, count - i), y), out + i, count - i);
}

template <class Op>
void run_ternary(const float* const* operands, float* out, int64_t count, const float*) {
  const D d;
  const float *x = operands[0], *y = operands[1], *z = operands[2];
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector)
    hn::StoreU(Op::apply(hn::LoadU(d, x + i), hn::LoadU(d, y + i), hn::LoadU(d, z + i)), d, out + i);
  if (i < count) {
    const int64_t rest = count - i;
    simd::store_rest(
        d, Op::apply(simd::load_rest(d, x + i, rest), simd::load_rest(d, y + i, rest), simd::load_rest(d, z + i, rest)),
        out + i, rest);
  }
}

template <class Op>
PointwiseFunction in_form(TileForm form) {
  switch (form) {
    case TileForm::Vectors:
      return run_binary<Op>;
    case TileForm::FirstNumber:
      return run_number_first<Op>;
    case TileForm::SecondNumber:
      return run_number_second<Op>;
  }
  return nullptr;
}

PointwiseFunction pick(PointwiseOp op, TileForm form) {
  switch (op) {
#define UNARY(name)       \
  case PointwiseOp::name: \
    return form == TileForm::Vectors ? run_unary<name> : nullptr;
    UNARY(Abs)
    UNARY(Ceil)
    UNARY(ClipTo)
    UNARY(Floor)
    UNARY(HardSigmoid)
    UNARY(HardSwish)
    UNARY(IsInf)
    UNARY(IsNaN)
    UNARY(LeakyRelu)
    UNARY(Neg)
    UNARY(Not)
    UNARY(Reciprocal)
    UNARY(Relu)
    UNARY(Round)
    UNARY(Same)
    UNARY(Shrink)
    UNARY(Sign)
    UNARY(Softsign)
    UNARY(Sqrt)
    UNARY(Square)
    UNARY(ThresholdedRelu)
    UNARY(Truth)
#undef UNARY
#define BINARY(name)      \
  case PointwiseOp::name: \
    return in_form<name>(form);
    BINARY(Add)
    BINARY(And)
    BINARY(Div)
    BINARY(Equal)
    BINARY(Greater)
    BINARY(GreaterOrEqual)
    BINARY(Less)
    BINARY(LessOrEqual)
    BINARY(Max)
    BINARY(Min)
    BINARY(Mul)
    BINARY(Or)
    BINARY(PRelu)
    BINARY(Sub)
    BINARY(Xor)
#undef BINARY
    case PointwiseOp::Where:
      return form == TileForm::Vectors ? run_ternary<Where> : nullptr;
    case PointwiseOp::Clip:
      return form == TileForm::Vectors ? run_ternary<Clip> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pointwise_arithmetic
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pointwise_arithmetic {
TENON_EXPORT(pick);
}
PointwiseFunction arithmetic_tile(PointwiseOp op, TileForm form, Isa isa) {
  using namespace pointwise_arithmetic;
  return TENON_DISPATCH(pick, isa)(op, form);
}
}  // namespace tenon
#endif
