// Functions of double vectors that are accurate to far less than a unit of float32. Included once per target, inside
// HWY_BEFORE_NAMESPACE, so there is no #pragma once.
#if defined(TENON_CPU_SIMD_WIDE_MATH) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_SIMD_WIDE_MATH
#undef TENON_CPU_SIMD_WIDE_MATH
#else
#define TENON_CPU_SIMD_WIDE_MATH
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The polynomial with these coefficients, highest power first.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_polynomial(D, V, V sum) {
  return sum;
}
template <class D, class V = hn::Vec<D>, class... Rest>
HWY_INLINE V wide_polynomial(D d, V x, V sum, double next, Rest... rest) {
  return wide_polynomial(d, x, hn::MulAdd(sum, x, hn::Set(d, next)), rest...);
}

// Rounds to the nearest integer by adding a large number, whose low bits are then that integer.
constexpr double kWideShift = 6755399441055744.0;

// 2^x for x in [-1000, 1000].
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_exp2(D d, V x) {
  const hn::RebindToSigned<D> i;
  const V shift = hn::Set(d, kWideShift), shifted = hn::Add(x, shift);
  const V r = hn::Mul(hn::Sub(x, hn::Sub(shifted, shift)), hn::Set(d, 0.69314718055994531));
  const V p = wide_polynomial(d, r, hn::Set(d, 1.0 / 40320), 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5,
                              1.0, 1.0);
  return hn::BitCast(d, hn::Add(hn::BitCast(i, p), hn::ShiftLeft<52>(hn::BitCast(i, shifted))));
}

// log2(x) for positive normal x: of its power of two, and of what is left as 2 * atanh((m - 1) / (m + 1)).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_log2(D d, V x) {
  const hn::RebindToUnsigned<D> u;
  const V one = hn::Set(d, 1.0);
  const auto bits = hn::BitCast(u, x);
  // m lies between the roots of 1/2 and 2.
  const auto e = hn::And(hn::Sub(bits, hn::Set(u, 0x3fe6a09e667f3bcd)), hn::Set(u, 0xfff0000000000000));
  const V m = hn::BitCast(d, hn::Sub(bits, e));
  // The exponent plus 1024, in the low bits of 2^52.
  const auto biased = hn::ShiftRight<52>(hn::Add(e, hn::Set(u, 0x4000000000000000)));
  const V large = hn::BitCast(d, hn::Or(biased, hn::Set(u, 0x4330000000000000)));
  const V power = hn::Sub(large, hn::Set(d, 4503599627370496.0 + 1024));
  const V s = hn::Div(hn::Sub(m, one), hn::Add(m, one)), z = hn::Mul(s, s);
  const V p = wide_polynomial(d, z, hn::Set(d, 1.0 / 15), 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0);
  return hn::MulAdd(hn::Mul(s, hn::Set(d, 2.8853900817779268)), p, power);
}

// log(x) for numbers that are not below zero, infinity among them.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_log(D d, V x) {
  const V infinity = hn::Set(d, __builtin_inf());
  const V log = hn::Mul(wide_log2(d, x), hn::Set(d, 0.69314718055994531));
  return hn::IfThenElse(hn::Lt(x, infinity), hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), log), x);
}

// exp(x), without infinity: of large numbers it gives large numbers that no float holds.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_exp(D d, V x) {
  const V limit = hn::Set(d, 200.0);
  return wide_exp2(d, hn::Mul(hn::Min(hn::Max(x, hn::Neg(limit)), limit), hn::Set(d, 1.4426950408889634)));
}

// What wide_sin is accurate for.
constexpr double kWideSinLimit = 1 << 24;

// sin(x + quarters * pi / 2) for |x| < kWideSinLimit.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_sin(D d, V x, double quarters) {
  const hn::RebindToUnsigned<D> u;
  const V shift = hn::Set(d, kWideShift);
  const V shifted = hn::MulAdd(x, hn::Set(d, 0.63661977236758134), shift), n = hn::Sub(shifted, shift);
  // A quarter turn in two parts; products with the first one are exact.
  V r = hn::NegMulAdd(n, hn::Set(d, 0x1.921fb5p0), x);
  r = hn::NegMulAdd(n, hn::Set(d, 0x1.110b4611a6263p-26), r);
  const V z = hn::Mul(r, r);
  const V sine = hn::Mul(
      r, wide_polynomial(d, z, hn::Set(d, -1.0 / 39916800), 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0));
  const V cosine =
      wide_polynomial(d, z, hn::Set(d, 1.0 / 479001600), -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0);
  const auto turns = hn::BitCast(u, hn::Add(shifted, hn::Set(d, quarters)));
  const auto is_even = hn::RebindMask(d, hn::Eq(hn::And(turns, hn::Set(u, 1)), hn::Zero(u)));
  const auto sign = hn::ShiftLeft<62>(hn::And(turns, hn::Set(u, 2)));
  return hn::Xor(hn::IfThenElse(is_even, sine, cosine), hn::BitCast(d, sign));
}

// atan(x): of 1 / x beyond 1, and then of what is left beyond an eighth of a turn's tangent.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_atan(D d, V x) {
  const V one = hn::Set(d, 1.0), size = hn::Abs(x);
  const auto is_large = hn::Gt(size, one);
  const V inner = hn::IfThenElse(is_large, hn::Div(one, size), size);
  const auto is_steep = hn::Gt(inner, hn::Set(d, 0.41421356237309503));
  const V t = hn::IfThenElse(is_steep, hn::Div(hn::Sub(inner, one), hn::Add(inner, one)), inner), z = hn::Mul(t, t);
  const V p = wide_polynomial(d, z, hn::Set(d, 1.0 / 25), -1.0 / 23, 1.0 / 21, -1.0 / 19, 1.0 / 17, -1.0 / 15, 1.0 / 13,
                              -1.0 / 11, 1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3, 1.0);
  V angle = hn::MulAdd(t, p, hn::IfThenElseZero(is_steep, hn::Set(d, 0.78539816339744831)));
  angle = hn::IfThenElse(is_large, hn::Sub(hn::Set(d, 1.5707963267948966), angle), angle);
  return hn::IfThenElse(hn::Eq(x, x), hn::CopySign(angle, x), x);
}

// x to the power of y, as C defines it.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_pow(D d, V x, V y) {
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0), infinity = hn::Set(d, __builtin_inf());
  const V size = hn::Abs(x);
  V log = wide_log2(d, size);
  log = hn::IfThenElse(hn::Eq(size, zero), hn::Neg(infinity), log);
  log = hn::IfThenElse(hn::Eq(size, infinity), infinity, log);
  const V limit = hn::Set(d, 1000.0);
  const V t = hn::Mul(y, log);
  V power = wide_exp2(d, hn::Min(hn::Max(t, hn::Neg(limit)), limit));
  // Sizes 0 and 1 to infinite powers, of which the product knows nothing.
  power = hn::IfThenElse(hn::Eq(size, one), one, power);
  const V half = hn::Mul(y, hn::Set(d, 0.5));
  const auto is_whole = hn::Eq(hn::Floor(y), y), is_even = hn::Eq(hn::Floor(half), half);
  const auto is_negative = hn::Lt(hn::CopySign(one, x), zero);
  power = hn::IfThenElse(hn::And(is_negative, hn::AndNot(is_even, is_whole)), hn::Neg(power), power);
  const V nan = hn::Set(d, __builtin_nan(""));
  const auto is_real = hn::Or(is_whole, hn::Or(hn::Ge(x, zero), hn::Eq(size, infinity)));
  power = hn::IfThenElse(hn::And(is_real, hn::And(hn::Eq(x, x), hn::Eq(y, y))), power, nan);
  return hn::IfThenElse(hn::Or(hn::Eq(x, one), hn::Eq(y, zero)), one, power);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::simd
HWY_AFTER_NAMESPACE();

#endif
