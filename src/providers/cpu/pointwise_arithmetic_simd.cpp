// Instructions of pointwise expressions that take a few operations: arithmetic, comparisons, choices.
#include <cmath>

#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pointwise_arithmetic_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>

#include "providers/cpu/pointwise_step_simd.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::pointwise_arithmetic {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace tenon::steps::HWY_NAMESPACE;

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
// The sum keeps its digits near -3, where those of x / 6 + 1 / 2 cancel.
UNARY(HardSwish,
      hn::Mul(hn::Mul(x, number(1.0f / 6)), at_most(at_least(hn::Add(x, number(3.0f)), hn::Zero(D())), number(6.0f))))
UNARY(IsInf, hn::Add(hn::IfThenElseZero(hn::Eq(x, number(HUGE_VALF)), alpha),
                     hn::IfThenElseZero(hn::Eq(x, number(-HUGE_VALF)), beta)))
UNARY(IsNaN, truth(is_nan(x)))
UNARY(LeakyRelu, hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(alpha, x), x))
UNARY(Neg, hn::Neg(x))
UNARY(Not, truth(hn::Eq(x, hn::Zero(D()))))
UNARY(Reciprocal, hn::Div(number(1.0f), x))
UNARY(Relu, hn::IfThenZeroElse(hn::Lt(x, hn::Zero(D())), x))
UNARY(Round, hn::Round(x))
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
TENON_HOT void unary(TENON_STEP_PARAMETERS) {
  const V alpha = number(step->numbers[0]), beta = number(step->numbers[1]);
  TENON_SET_VECTORS(Op::apply(x, alpha, beta))
  TENON_NEXT_STEP;
}

template <class Op>
TENON_HOT void with_itself(TENON_STEP_PARAMETERS) {
  TENON_SET_VECTORS(Op::apply(x, x))
  TENON_NEXT_STEP;
}

template <class Op>
TENON_HOT void with_memory(TENON_STEP_PARAMETERS) {
  const float* y = operand(step, at, 0);
  TENON_SET_VECTORS(Op::apply(x, hn::LoadU(D(), y + i)))
  TENON_NEXT_STEP;
}

template <class Op>
TENON_HOT void with_number(TENON_STEP_PARAMETERS) {
  const V y = number_operand(step, 0);
  TENON_SET_VECTORS(Op::apply(x, y))
  TENON_NEXT_STEP;
}

template <class Op>
TENON_HOT void memory_with(TENON_STEP_PARAMETERS) {
  const float* y = operand(step, at, 0);
  TENON_SET_VECTORS(Op::apply(hn::LoadU(D(), y + i), x))
  TENON_NEXT_STEP;
}

template <class Op>
TENON_HOT void number_with(TENON_STEP_PARAMETERS) {
  const V y = number_operand(step, 0);
  TENON_SET_VECTORS(Op::apply(y, x))
  TENON_NEXT_STEP;
}

template <class Op, int kPosition>
TENON_HOT void ternary(TENON_STEP_PARAMETERS) {
  const float *y = operand(step, at, 0), *z = operand(step, at, 1);
  if constexpr (kPosition == 0) TENON_SET_VECTORS(Op::apply(x, hn::LoadU(D(), y + i), hn::LoadU(D(), z + i)))
  if constexpr (kPosition == 1) TENON_SET_VECTORS(Op::apply(hn::LoadU(D(), y + i), x, hn::LoadU(D(), z + i)))
  if constexpr (kPosition == 2) TENON_SET_VECTORS(Op::apply(hn::LoadU(D(), y + i), hn::LoadU(D(), z + i), x))
  TENON_NEXT_STEP;
}

TENON_HOT void clip_to_numbers(TENON_STEP_PARAMETERS) {
  const V least = number_operand(step, 0), greatest = number_operand(step, 1);
  TENON_SET_VECTORS(Clip::apply(x, least, greatest))
  TENON_NEXT_STEP;
}

TENON_HOT void end(TENON_STEP_PARAMETERS) {
  (void)step, (void)at, (void)v0, (void)v1, (void)v2, (void)v3, (void)v4, (void)v5, (void)v6, (void)v7;
}

TENON_HOT void fetch(TENON_STEP_PARAMETERS) {
  const float* from = operand(step, at, 0) + static_cast<size_t>(step->numbers[0]);
  for (int64_t i = 0; i < kBlock; i += 16) hwy::Prefetch(from + i);
  TENON_NEXT_STEP;
}

void run_all(const PointwiseStep* steps, size_t count) {
  const V none = hn::Zero(D());
  const auto first = reinterpret_cast<StepFunction>(steps->function);
  for (size_t at = 0; at < count; at += static_cast<size_t>(kBlock))
    first(steps, at, none, none, none, none, none, none, none, none);
}

template <class Op>
StepFunction in_form(StepForm form) {
  switch (form) {
    case StepForm::Itself:
      return with_itself<Op>;
    case StepForm::Memory:
      return with_memory<Op>;
    case StepForm::Number:
      return with_number<Op>;
    case StepForm::MemoryFirst:
      return memory_with<Op>;
    case StepForm::NumberFirst:
      return number_with<Op>;
  }
  return nullptr;
}

template <class Op>
StepFunction at_position(int position) {
  return position == 0 ? ternary<Op, 0> : position == 1 ? ternary<Op, 1> : ternary<Op, 2>;
}

StepFunction pick_arithmetic(PointwiseOp op, StepForm form) {
  switch (op) {
#define UNARY(name)       \
  case PointwiseOp::name: \
    return form == StepForm::Itself ? unary<name> : nullptr;
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
    default:
      return nullptr;
  }
}

StepFunction pick_ternary(PointwiseOp op, int position) {
  return op == PointwiseOp::Where  ? at_position<Where>(position)
         : op == PointwiseOp::Clip ? at_position<Clip>(position)
                                   : nullptr;
}

PointwiseStep::Function pick(PointwiseOp op, StepForm form) { return function_of(pick_arithmetic(op, form)); }
PointwiseStep::Function pick_three(PointwiseOp op, int position) { return function_of(pick_ternary(op, position)); }
PointwiseStep::Function pick_clip() { return function_of(clip_to_numbers); }
PointwiseStep::Function pick_end() { return function_of(end); }
PointwiseStep::Function pick_fetch() { return function_of(fetch); }
RunSteps pick_run() { return run_all; }
int64_t pick_block() { return kBlock; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pointwise_arithmetic
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pointwise_arithmetic {
TENON_EXPORT(pick);
TENON_EXPORT(pick_three);
TENON_EXPORT(pick_clip);
TENON_EXPORT(pick_end);
TENON_EXPORT(pick_fetch);
TENON_EXPORT(pick_run);
TENON_EXPORT(pick_block);
}  // namespace pointwise_arithmetic

using namespace pointwise_arithmetic;
PointwiseStep::Function arithmetic_step(PointwiseOp op, StepForm form, Isa isa) {
  return TENON_DISPATCH(pick, isa)(op, form);
}
PointwiseStep::Function ternary_step(PointwiseOp op, int position, Isa isa) {
  return TENON_DISPATCH(pick_three, isa)(op, position);
}
PointwiseStep::Function clip_to_numbers_step(Isa isa) { return TENON_DISPATCH(pick_clip, isa)(); }
PointwiseStep::Function end_step(Isa isa) { return TENON_DISPATCH(pick_end, isa)(); }
PointwiseStep::Function fetch_step(Isa isa) { return TENON_DISPATCH(pick_fetch, isa)(); }
RunSteps run_steps(Isa isa) { return TENON_DISPATCH(pick_run, isa)(); }
int64_t block_elements(Isa isa) { return TENON_DISPATCH(pick_block, isa)(); }
}  // namespace tenon
#endif
