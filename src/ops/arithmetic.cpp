#include "ops/arithmetic.h"

#include <cmath>

#include "ops/accepted.h"
#include "ops/broadcasting.h"

namespace tenon {

namespace {

using Elements = std::span<const Dim>;

template <class P = NoParams>
OpDef binary(OpDef def) {
  def.inputs = {2, 2};
  def.outputs = {1, 1};
  def.in_place = InPlace::Elementwise;
  return define<P>(def);
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

OpDef variadic(OpDef def) {
  def.inputs = {1, kVariadic};
  def.outputs = {1, 1};
  return define<NoParams>(def);
}

// An operand of x + y, where the sum may hold what the output may.
Accepted accepts_addend(const AcceptContext& c, size_t input) {
  const Accepted out = c.output();
  if (!out.is_bounded()) return {};
  if (const auto other = c.constant(1 - input)) return Accepted::range(out.low - *other, out.high - *other);
  return Accepted::range(out.low / 2, out.high / 2);
}

// Of x - y.
Accepted accepts_difference(const AcceptContext& c, size_t input) {
  const Accepted out = c.output();
  const auto other = c.constant(1 - input);
  // 1 - x is how masks and probabilities are turned around.
  if (input == 1 && other && *other == 1 && !out.is_bounded()) return Accepted::range(0, 1);
  if (!out.is_bounded()) return {};
  if (other)
    return input == 0 ? Accepted::range(out.low + *other, out.high + *other)
                      : Accepted::range(*other - out.high, *other - out.low);
  const double middle = (out.low + out.high) / 2;
  return input == 0 ? Accepted::range(middle, out.high) : Accepted::range(0, middle - out.low);
}

// Of x * y.
Accepted accepts_factor(const AcceptContext& c, size_t input) {
  const Accepted out = c.output();
  if (!out.is_bounded()) return {};
  const auto other = c.constant(1 - input);
  if (other && *other != 0) {
    const auto [low, high] = std::minmax({out.low / *other, out.high / *other});
    return Accepted::range(low, high);
  }
  return Accepted::range(std::max(0.0, out.low), std::sqrt(std::max(0.0, out.high)));
}

// Of x / y, and of what remains of it.
Accepted accepts_quotient(const AcceptContext& c, size_t input) {
  if (input == 1) return c.is_integer_input(1) ? Accepted::range(1, 9) : Accepted::range(0.5, 2);
  const Accepted out = c.output();
  const auto divisor = c.constant(1);
  if (!out.is_bounded() || !divisor) return {};
  const auto [low, high] = std::minmax({out.low * *divisor, out.high * *divisor});
  return Accepted::range(low, high);
}

Accepted accepts_power(const AcceptContext& c, size_t input) {
  if (input == 1) return Accepted::range(0, 3);
  const auto exponent = c.constant(1);
  if (exponent && *exponent == std::floor(*exponent) && *exponent >= 0) return {};
  return Accepted::range(c.is_integer_input(0) ? 1 : 0.1, 2);
}

}  // namespace

template <>
OpDef op_definition<OpId::Add>() {
  return binary(
      {.infer = [](InferContext& c) { return infer_elementwise(c, kNumbers, [](Elements x) { return x[0] + x[1]; }); },
       .accepts = accepts_addend,
       .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::Sub>() {
  return binary(
      {.infer = [](InferContext& c) { return infer_elementwise(c, kNumbers, [](Elements x) { return x[0] - x[1]; }); },
       .accepts = accepts_difference,
       .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::Mul>() {
  return binary(
      {.infer = [](InferContext& c) { return infer_elementwise(c, kNumbers, [](Elements x) { return x[0] * x[1]; }); },
       .accepts = accepts_factor,
       .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::Div>() {
  return binary({.infer = [](InferContext& c) { return infer_elementwise(c, kNumbers, divide); },
                 .accepts = accepts_quotient,
                 .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::Mod>() {
  const auto infer = [](InferContext& c) {
    return infer_elementwise(c, kNumbers, c.params<ModParams>().fmod ? nullptr : modulo);
  };
  return binary<ModParams>({.infer = infer, .accepts = accepts_quotient, .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::Pow>() {
  return binary({.infer = infer_pow, .accepts = accepts_power, .rounding = kRoundedFunction});
}

template <>
OpDef op_definition<OpId::Min>() {
  const auto infer = [](InferContext& c) {
    return infer_elementwise(c, kNumbers, [](Elements x) {
      Dim result = x[0];
      for (const Dim& d : x) result = min(result, d);
      return result;
    });
  };
  return variadic({.infer = infer, .accepts = accepts_moved, .rounding = kNotRounded});
}

template <>
OpDef op_definition<OpId::Max>() {
  const auto infer = [](InferContext& c) {
    return infer_elementwise(c, kNumbers, [](Elements x) {
      Dim result = x[0];
      for (const Dim& d : x) result = max(result, d);
      return result;
    });
  };
  return variadic({.infer = infer, .accepts = accepts_moved, .rounding = kNotRounded});
}

template <>
OpDef op_definition<OpId::Sum>() {
  return variadic({.infer = [](InferContext& c) { return infer_elementwise(c, kFloats, nullptr); },
                   .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::Mean>() {
  return variadic({.infer = [](InferContext& c) { return infer_elementwise(c, kFloats, nullptr); },
                   .rounding = kRoundedArithmetic});
}

}  // namespace tenon
