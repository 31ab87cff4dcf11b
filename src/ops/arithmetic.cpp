#include "ops/arithmetic.h"

#include "ops/broadcasting.h"

namespace tenon {

namespace {

using Elements = std::span<const Dim>;

template <class P = NoParams>
OpDef binary(Status (*infer)(InferContext&)) {
  return define<P>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer, .in_place = InPlace::Elementwise});
}

// Truncates as integers do. Symbolic quotients are of extents, where rounding down is the same.
Dim divide(Elements x) {
  const Dim &a = x[0], &b = x[1];
  if (b.equals(0)) return Dim::invalid();
  if (a.is_constant() && b.is_constant() && b.value() != -1) return Dim(a.value() / b.value());
  return b.equals(-1) ? Dim(0) - a : floor_div(a, b);
}

Dim modulo(Elements x) {
  if (x[1].equals(0)) return Dim::invalid();
  return x[1].equals(-1) ? Dim(0) : floor_mod(x[0], x[1]);
}

Status infer_pow(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kNumbers));
  TN_ASSIGN_OR_RETURN(auto shape, broadcast_inputs(c));
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

OpDef variadic(Status (*infer)(InferContext&)) {
  return define<NoParams>({.inputs = {1, kVariadic}, .outputs = {1, 1}, .infer = infer});
}

}  // namespace

template <>
OpDef op_definition<OpId::Add>() {
  return binary([](InferContext& c) { return infer_elementwise(c, kNumbers, [](Elements x) { return x[0] + x[1]; }); });
}

template <>
OpDef op_definition<OpId::Sub>() {
  return binary([](InferContext& c) { return infer_elementwise(c, kNumbers, [](Elements x) { return x[0] - x[1]; }); });
}

template <>
OpDef op_definition<OpId::Mul>() {
  return binary([](InferContext& c) { return infer_elementwise(c, kNumbers, [](Elements x) { return x[0] * x[1]; }); });
}

template <>
OpDef op_definition<OpId::Div>() {
  return binary([](InferContext& c) { return infer_elementwise(c, kNumbers, divide); });
}

template <>
OpDef op_definition<OpId::Mod>() {
  return binary<ModParams>(
      [](InferContext& c) { return infer_elementwise(c, kNumbers, c.params<ModParams>().fmod ? nullptr : modulo); });
}

template <>
OpDef op_definition<OpId::Pow>() {
  return binary(infer_pow);
}

template <>
OpDef op_definition<OpId::Min>() {
  return variadic([](InferContext& c) {
    return infer_elementwise(c, kNumbers, [](Elements x) {
      Dim result = x[0];
      for (const Dim& d : x) result = min(result, d);
      return result;
    });
  });
}

template <>
OpDef op_definition<OpId::Max>() {
  return variadic([](InferContext& c) {
    return infer_elementwise(c, kNumbers, [](Elements x) {
      Dim result = x[0];
      for (const Dim& d : x) result = max(result, d);
      return result;
    });
  });
}

template <>
OpDef op_definition<OpId::Sum>() {
  return variadic([](InferContext& c) { return infer_elementwise(c, kFloats, nullptr); });
}

template <>
OpDef op_definition<OpId::Mean>() {
  return variadic([](InferContext& c) { return infer_elementwise(c, kFloats, nullptr); });
}

}  // namespace tenon
