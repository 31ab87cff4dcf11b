// Functions of float vectors. Included once per target, inside HWY_BEFORE_NAMESPACE, so there is no #pragma once.
#if defined(TENON_CPU_SIMD_MATH) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_SIMD_MATH
#undef TENON_CPU_SIMD_MATH
#else
#define TENON_CPU_SIMD_MATH
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// x * p + c with a constant.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V step(D d, V x, V p, float c) {
  return hn::MulAdd(x, p, hn::Set(d, c));
}

// (exp(r) - 1 - r) / r^2 for |r| up to log(2) / 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_polynomial(D d, V r) {
  V p = step(d, hn::Set(d, 1.9875691500e-4f), r, 1.3981999507e-3f);
  p = step(d, p, r, 8.3334519073e-3f);
  p = step(d, p, r, 4.1665795894e-2f);
  p = step(d, p, r, 1.6666665459e-1f);
  return step(d, p, r, 5.0000001201e-1f);
}

// exp(x) = 2^n * (1 + fraction) for x in [-87.33, 88.72]. Rounds by adding a large number, whose low bits are then n.
template <class D>
struct ExpParts {
  hn::Vec<D> shifted_n, fraction;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE ExpParts<D> exp_parts(D d, V x) {
  const V shift = hn::Set(d, 12582912.0f);
  const V t = hn::MulAdd(x, hn::Set(d, 1.44269504f), shift);
  const V n = hn::Sub(t, shift);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  return {t, hn::MulAdd(exp_polynomial(d, r), hn::Mul(r, r), r)};
}

// x * 2^n, by adding to the exponent.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V scale_by(D d, V x, V shifted_n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, x), hn::ShiftLeft<23>(hn::BitCast(di, shifted_n))));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_inside(D d, V x) {
  const auto parts = exp_parts(d, x);
  return scale_by(d, hn::Add(parts.fraction, hn::Set(d, 1.0f)), parts.shifted_n);
}

// exp(x) - 1 for x below zero, where it does not lose the digits of small x. NaN is not kept.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_minus_one_below_zero(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const auto parts = exp_parts(d, hn::Max(x, hn::Set(d, -87.33f)));
  const V scale = scale_by(d, one, parts.shifted_n);
  return hn::MulAdd(scale, parts.fraction, hn::Sub(scale, one));
}

#if HWY_TARGET == HWY_AVX3
// x * 2^n with all that follows from it: infinity, subnormal numbers and NaN.
HWY_INLINE __m512 scaled(__m512 x, __m512 n) { return _mm512_scalef_ps(x, n); }
HWY_INLINE __m256 scaled(__m256 x, __m256 n) { return _mm256_scalef_ps(x, n); }
HWY_INLINE __m128 scaled(__m128 x, __m128 n) { return _mm_scalef_ps(x, n); }

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  // Min and Max of this target give the second operand when one is NaN.
  const V inside = hn::Min(hn::Set(d, 89.0f), hn::Max(hn::Set(d, -104.0f), x));
  const V n = hn::Round(hn::Mul(inside, hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), inside);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = exp_polynomial(d, r);
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  return V{scaled(p.raw, n.raw)};
}
#else
// Results below the smallest normal number become 0; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  const V low = hn::Set(d, -87.33f), high = hn::Set(d, 88.72283f);
  const V y = hn::IfThenZeroElse(hn::Lt(x, low), exp_inside(d, hn::Min(hn::Max(x, low), high)));
  // Targets differ in what Min and Max make of NaN, so that it is selected here.
  return hn::IfThenElse(hn::Le(x, high), y, hn::Add(x, hn::Set(d, __builtin_inff())));
}
#endif

template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  const V limit = hn::Set(d, 7.90531110763549805f);
  const V inside = hn::Min(hn::Max(x, hn::Neg(limit)), limit);
  const V z = hn::Mul(inside, inside);
  V p = step(d, z, hn::Set(d, -2.76076847742355e-16f), 2.00018790482477e-13f);
  p = step(d, p, z, -8.60467152213735e-11f);
  p = step(d, p, z, 5.12229709037114e-08f);
  p = step(d, p, z, 1.48572235717979e-05f);
  p = step(d, p, z, 6.37261928875436e-04f);
  p = step(d, p, z, 4.89352455891786e-03f);
  V q = step(d, z, hn::Set(d, 1.19825839466702e-06f), 1.18534705686654e-04f);
  q = step(d, q, z, 2.26843463243900e-03f);
  q = step(d, q, z, 4.89352518554385e-03f);
  return hn::IfThenElse(hn::Eq(x, x), hn::Div(hn::Mul(p, inside), q), x);
}

// An odd polynomial near zero, 1 - exp(polynomial) elsewhere.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf(D d, V x) {
  const V size = hn::Abs(x), z = hn::Mul(x, x);
  V s = step(d, hn::Set(d, -5.61801775e-4f), z, 4.91381718e-3f);
  s = step(d, s, z, -2.67075151e-2f);
  s = step(d, s, z, 1.12800106e-1f);
  s = step(d, s, z, -3.76122952e-1f);
  s = step(d, s, z, 1.28379151e-1f);
  s = hn::MulAdd(s, x, x);
  const V t = hn::Min(size, hn::Set(d, 3.925f));
  V g = step(d, hn::Set(d, 1.72948930e-5f), t, -3.83208680e-4f);
  g = step(d, g, t, 3.88393435e-3f);
  g = step(d, g, t, -2.42545605e-2f);
  g = step(d, g, t, 1.06777847e-1f);
  g = step(d, g, t, 6.34846687e-1f);
  g = step(d, g, t, 1.28717512e-1f);
  g = hn::MulAdd(g, t, t);
  const V far = hn::CopySign(hn::Sub(hn::Set(d, 1.0f), exp_inside(d, hn::Neg(g))), x);
  return hn::IfThenElse(hn::Gt(size, hn::Set(d, 0.921875f)), far, s);
}

// 2^x for x in [-126, 127].
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_inside(D d, V x) {
  const V shift = hn::Set(d, 12582912.0f);
  const V t = hn::Add(x, shift);
  const V r = hn::Sub(x, hn::Sub(t, shift));
  V p = step(d, hn::Set(d, 1.32764666e-3f), r, 9.67554096e-3f);
  p = step(d, p, r, 5.55071346e-2f);
  p = step(d, p, r, 2.40221202e-1f);
  p = step(d, p, r, 6.93146944e-1f);
  return scale_by(d, step(d, p, r, 1.00000012f), t);
}

// x times the share of a normal distribution below x. The share below -|x| is 2 to a polynomial of |x|; far out the
// result is x or 0 to the last digit of 2e-7.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu(D d, V x) {
  const V size = hn::Abs(x), end = hn::Set(d, 5.6f), t = hn::Min(size, end);
  V p = step(d, hn::Set(d, -2.04360958e-6f), t, 2.99563162e-5f);
  p = step(d, p, t, -1.41711151e-4f);
  p = step(d, p, t, -2.43595670e-4f);
  p = step(d, p, t, 7.20180385e-3f);
  p = step(d, p, t, -5.25915325e-2f);
  p = step(d, p, t, -4.59176511e-1f);
  p = step(d, p, t, -1.15110922f);
  p = step(d, p, t, -9.99999881e-1f);
  const V share = hn::IfThenElseZero(hn::Lt(size, end), exp2_inside(d, p));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, share), hn::NegMulAdd(t, share, x));
}

// log(x * 2^-scale), for positive normal x: m * 2^e with m between the root of 1/2 and the root of 2, then a polynomial
// of m - 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of_scaled(D d, V x, V scale) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0f), root = hn::Set(d, 0.707106781186547524f);
  const auto bits = hn::BitCast(di, x);
  V e = hn::Sub(hn::ConvertTo(d, hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 126))), scale);
  V m = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(di, 0x007fffff)), hn::Set(di, 0x3f000000)));
  const auto is_small = hn::Lt(m, root);
  e = hn::Sub(e, hn::IfThenElseZero(is_small, one));
  m = hn::Sub(hn::Add(m, hn::IfThenElseZero(is_small, m)), one);
  const V z = hn::Mul(m, m);
  V p = step(d, hn::Set(d, 7.0376836292e-2f), m, -1.1514610310e-1f);
  p = step(d, p, m, 1.1676998740e-1f);
  p = step(d, p, m, -1.2420140846e-1f);
  p = step(d, p, m, 1.4249322787e-1f);
  p = step(d, p, m, -1.6668057665e-1f);
  p = step(d, p, m, 2.0000714765e-1f);
  p = step(d, p, m, -2.4999993993e-1f);
  p = step(d, p, m, 3.3333331174e-1f);
  V y = hn::Mul(hn::Mul(m, z), p);
  y = hn::MulAdd(e, hn::Set(d, -2.12194440e-4f), y);
  y = hn::NegMulAdd(hn::Set(d, 0.5f), z, y);
  return hn::MulAdd(e, hn::Set(d, 0.693359375f), hn::Add(m, y));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log(D d, V x) {
  const V infinity = hn::Set(d, __builtin_inff());
  // Numbers below the smallest normal one are scaled up.
  const auto is_tiny = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  const V scaled = hn::IfThenElse(is_tiny, hn::Mul(x, hn::Set(d, 0x1p24f)), x);
  const V finite = log_of_scaled(d, scaled, hn::IfThenElseZero(is_tiny, hn::Set(d, 24.0f)));
  const V y = hn::IfThenElse(hn::Lt(x, infinity), finite, x);
  const V of_zero = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, __builtin_nanf("")), of_zero);
}

// log(1 + exp(x)).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V softplus(D d, V x) {
  const V one = hn::Set(d, 1.0f), e = exp(d, hn::Neg(hn::Abs(x)));
  const V sum = hn::Add(one, e);
  // What rounding took from the sum.
  const V lost = hn::Sub(e, hn::Sub(sum, one));
  const V y = hn::Add(log_of_scaled(d, sum, hn::Zero(d)), hn::Div(lost, sum));
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Add(x, y), hn::IfThenElse(hn::Eq(x, x), y, x));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp(d, hn::Neg(x))));
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::simd
HWY_AFTER_NAMESPACE();

#endif
