#include "ops/unary.h"

#include "ops/accepted.h"
#include "ops/broadcasting.h"

namespace tenon {

namespace {

template <class P = NoParams>
OpDef unary(OpDef def) {
  def.inputs = def.outputs = {1, 1};
  def.in_place = InPlace::Elementwise;
  return define<P>(def);
}

// A test of each element.
Status infer_test(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats | kFloat8));
  c.out(0, DType::Bool, c.in(0).shape);
  return {};
}

// Where a function is defined, and small enough that results are.
Accepted accepts_sine(const AcceptContext&, size_t) { return Accepted::range(-0.9, 0.9); }
Accepted accepts_hyperbolic_cosine(const AcceptContext&, size_t) { return Accepted::range(1, 4); }
Accepted accepts_logarithm(const AcceptContext&, size_t) { return Accepted::range(0.01, 4); }
Accepted accepts_square(const AcceptContext&, size_t) { return Accepted::range(0, 4); }
Accepted accepts_reciprocal(const AcceptContext&, size_t) { return Accepted::range(0.5, 2); }

Accepted accepts_negated(const AcceptContext& c, size_t) { return Accepted::range(-c.output().high, -c.output().low); }

}  // namespace

#define UNARY(name, types, ...)                                                                          \
  template <>                                                                                            \
  OpDef op_definition<OpId::name>() {                                                                    \
    return unary({.infer = [](InferContext& c) { return infer_same_as_input(c, types); }, __VA_ARGS__}); \
  }
UNARY(Abs, kNumbers, .rounding = kNotRounded)
UNARY(Acos, kFloats, .accepts = accepts_sine, .rounding = kRoundedFunction)
UNARY(Acosh, kFloats, .accepts = accepts_hyperbolic_cosine, .rounding = kRoundedFunction)
UNARY(Asin, kFloats, .accepts = accepts_sine, .rounding = kRoundedFunction)
UNARY(Asinh, kFloats, .rounding = kRoundedFunction)
UNARY(Atan, kFloats, .rounding = kRoundedFunction)
UNARY(Atanh, kFloats, .accepts = accepts_sine, .rounding = kRoundedFunction)
UNARY(BitwiseNot, kInts, .rounding = kNotRounded)
UNARY(Ceil, kFloats, .accepts = accepts_moved, .rounding = kNotRounded)
UNARY(Cos, kFloats, .rounding = kRoundedFunction)
UNARY(Cosh, kFloats, .rounding = kRoundedFunction)
UNARY(Erf, kNumbers, .rounding = kRoundedFunction)
UNARY(Exp, kFloats, .rounding = kRoundedFunction)
UNARY(Floor, kFloats, .accepts = accepts_moved, .rounding = kNotRounded)
UNARY(Log, kFloats, .accepts = accepts_logarithm, .rounding = kRoundedFunction)
UNARY(Not, kBool, .rounding = kNotRounded)
UNARY(Reciprocal, kFloats, .accepts = accepts_reciprocal, .rounding = kRoundedArithmetic)
UNARY(Round, kFloats, .accepts = accepts_moved, .rounding = kNotRounded)
UNARY(Sigmoid, kFloats, .rounding = kRoundedFunction)
UNARY(Sign, kNumbers, .rounding = kNotRounded)
UNARY(Sin, kFloats, .rounding = kRoundedFunction)
UNARY(Sinh, kFloats, .rounding = kRoundedFunction)
UNARY(Sqrt, kFloats, .accepts = accepts_square, .rounding = kRoundedArithmetic)
UNARY(Tan, kFloats, .rounding = kRoundedFunction)
UNARY(Tanh, kFloats, .rounding = kRoundedFunction)
#undef UNARY

template <>
OpDef op_definition<OpId::Neg>() {
  const auto infer = [](InferContext& c) {
    return infer_elementwise(c, kFloats | kSignedInts, [](std::span<const Dim> x) { return Dim(0) - x[0]; });
  };
  return unary({.infer = infer, .accepts = accepts_negated, .rounding = kNotRounded});
}

template <>
OpDef op_definition<OpId::IsInf>() {
  return unary<IsInfParams>({.infer = infer_test, .rounding = kNotRounded});
}

template <>
OpDef op_definition<OpId::IsNaN>() {
  return unary({.infer = infer_test, .rounding = kNotRounded});
}

}  // namespace tenon
