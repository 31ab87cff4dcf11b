#include "ops/unary.h"

#include "ops/broadcasting.h"

namespace tenon {

namespace {

constexpr TypeSet kFloat8{DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2, DType::Float8E5M2FNUZ};

template <class P = NoParams>
OpDef unary(Status (*infer)(InferContext&)) {
  return define<P>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer, .in_place = InPlace::Elementwise});
}

// A test of each element.
Status infer_test(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats | kFloat8));
  c.out(0, DType::Bool, c.in(0).shape);
  return {};
}

}  // namespace

#define UNARY(name, types)                                                       \
  template <>                                                                    \
  OpDef op_definition<OpId::name>() {                                            \
    return unary([](InferContext& c) { return infer_same_as_input(c, types); }); \
  }
UNARY(Abs, kNumbers)
UNARY(Acos, kFloats)
UNARY(Acosh, kFloats)
UNARY(Asin, kFloats)
UNARY(Asinh, kFloats)
UNARY(Atan, kFloats)
UNARY(Atanh, kFloats)
UNARY(BitwiseNot, kInts)
UNARY(Ceil, kFloats)
UNARY(Cos, kFloats)
UNARY(Cosh, kFloats)
UNARY(Erf, kNumbers)
UNARY(Exp, kFloats)
UNARY(Floor, kFloats)
UNARY(Log, kFloats)
UNARY(Not, kBool)
UNARY(Reciprocal, kFloats)
UNARY(Round, kFloats)
UNARY(Sigmoid, kFloats)
UNARY(Sign, kNumbers)
UNARY(Sin, kFloats)
UNARY(Sinh, kFloats)
UNARY(Sqrt, kFloats)
UNARY(Tan, kFloats)
UNARY(Tanh, kFloats)
#undef UNARY

template <>
OpDef op_definition<OpId::Neg>() {
  return unary([](InferContext& c) {
    return infer_elementwise(c, kFloats | kSignedInts, [](std::span<const Dim> x) { return Dim(0) - x[0]; });
  });
}

template <>
OpDef op_definition<OpId::IsInf>() {
  return unary<IsInfParams>(infer_test);
}

template <>
OpDef op_definition<OpId::IsNaN>() {
  return unary(infer_test);
}

}  // namespace tenon
