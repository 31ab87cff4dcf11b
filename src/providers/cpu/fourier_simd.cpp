#include "providers/cpu/fourier_plan.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/fourier_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::fourier {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

// With constructors for the target, which those that compilers make are not for everywhere.
struct Complex {
  V real, imaginary;
  HWY_INLINE Complex() {}
  HWY_INLINE Complex(V r, V i) : real(r), imaginary(i) {}
};

HWY_INLINE Complex add(Complex a, Complex b) { return {hn::Add(a.real, b.real), hn::Add(a.imaginary, b.imaginary)}; }
HWY_INLINE Complex subtract(Complex a, Complex b) {
  return {hn::Sub(a.real, b.real), hn::Sub(a.imaginary, b.imaginary)};
}
// a - i b
HWY_INLINE Complex turned_down(Complex a, Complex b) {
  return {hn::Add(a.real, b.imaginary), hn::Sub(a.imaginary, b.real)};
}
// a + i b
HWY_INLINE Complex turned_up(Complex a, Complex b) {
  return {hn::Sub(a.real, b.imaginary), hn::Add(a.imaginary, b.real)};
}
HWY_INLINE Complex times(Complex a, V real, V imaginary) {
  return {hn::NegMulAdd(a.imaginary, imaginary, hn::Mul(a.real, real)),
          hn::MulAdd(a.imaginary, real, hn::Mul(a.real, imaginary))};
}

// Cosines and sines of 2 pi k / R.
template <int R>
struct Turns;
template <>
struct Turns<3> {
  static constexpr float kCos[] = {1, -0.5f, -0.5f}, kSin[] = {0, 0.8660254037844387f, -0.8660254037844387f};
};
template <>
struct Turns<5> {
  static constexpr float kCos[] = {1, 0.30901699437494745f, -0.8090169943749475f, -0.8090169943749475f,
                                   0.30901699437494745f};
  static constexpr float kSin[] = {0, 0.9510565162951535f, 0.5877852522924731f, -0.5877852522924731f,
                                   -0.9510565162951535f};
};
template <>
struct Turns<7> {
  static constexpr float kCos[] = {1,
                                   0.6234898018587336f,
                                   -0.2225209339563144f,
                                   -0.9009688679024191f,
                                   -0.9009688679024191f,
                                   -0.2225209339563144f,
                                   0.6234898018587336f};
  static constexpr float kSin[] = {0,
                                   0.7818314824680298f,
                                   0.9749279121818236f,
                                   0.4338837391175581f,
                                   -0.4338837391175581f,
                                   -0.9749279121818236f,
                                   -0.7818314824680298f};
};

// y = the transform of x, of R elements.
template <int R>
HWY_INLINE void butterfly(const Complex (&x)[R], Complex (&y)[R]) {
  if constexpr (R == 2) {
    y[0] = add(x[0], x[1]);
    y[1] = subtract(x[0], x[1]);
  } else if constexpr (R == 4) {
    const Complex a = add(x[0], x[2]), b = subtract(x[0], x[2]), c = add(x[1], x[3]), d = subtract(x[1], x[3]);
    y[0] = add(a, c);
    y[1] = turned_down(b, d);
    y[2] = subtract(a, c);
    y[3] = turned_up(b, d);
  } else {
    // Elements as far from both ends have the same cosine and opposite sines.
    constexpr int kHalf = R / 2;
    const D d;
    Complex sums[kHalf], differences[kHalf];
    y[0] = x[0];
#pragma GCC unroll 8
    for (int j = 0; j < kHalf; ++j) {
      sums[j] = add(x[j + 1], x[R - 1 - j]);
      differences[j] = subtract(x[j + 1], x[R - 1 - j]);
      y[0] = add(y[0], sums[j]);
    }
#pragma GCC unroll 8
    for (int k = 1; k <= kHalf; ++k) {
      Complex even = x[0], odd{hn::Zero(d), hn::Zero(d)};
#pragma GCC unroll 8
      for (int j = 0; j < kHalf; ++j) {
        const V cosine = hn::Set(d, Turns<R>::kCos[(j + 1) * k % R]),
                sine = hn::Set(d, Turns<R>::kSin[(j + 1) * k % R]);
        even = {hn::MulAdd(sums[j].real, cosine, even.real), hn::MulAdd(sums[j].imaginary, cosine, even.imaginary)};
        odd = {hn::MulAdd(differences[j].real, sine, odd.real),
               hn::MulAdd(differences[j].imaginary, sine, odd.imaginary)};
      }
      y[k] = turned_down(even, odd);
      y[R - k] = turned_up(even, odd);
    }
  }
}

template <bool kWhole>
HWY_INLINE Complex load(FourierSignals s, int64_t at, int64_t count) {
  const D d;
  if constexpr (kWhole) return {hn::LoadU(d, s.real + at), hn::LoadU(d, s.imaginary + at)};
  return {simd::load_rest(d, s.real + at, count), simd::load_rest(d, s.imaginary + at, count)};
}

template <bool kWhole>
HWY_INLINE void store(Complex v, FourierSignals s, int64_t at, int64_t count) {
  const D d;
  if constexpr (kWhole) {
    hn::StoreU(v.real, d, s.real + at);
    hn::StoreU(v.imaginary, d, s.imaginary + at);
  } else {
    simd::store_rest(d, v.real, s.real + at, count);
    simd::store_rest(d, v.imaginary, s.imaginary + at, count);
  }
}

// Up to a vector of butterflies; their elements lie `apart` in the source and `side` in the target.
template <int R, bool kWhole>
HWY_INLINE void run_butterfly(FourierSignals from, int64_t source, int64_t apart, FourierSignals to, int64_t target,
                              int64_t side, const V (&real)[R], const V (&imaginary)[R], int64_t count) {
  Complex x[R], y[R];
#pragma GCC unroll 8
  for (int j = 0; j < R; ++j) x[j] = load<kWhole>(from, source + j * apart, count);
  butterfly<R>(x, y);
  store<kWhole>(y[0], to, target, count);
#pragma GCC unroll 8
  for (int k = 1; k < R; ++k) store<kWhole>(times(y[k], real[k], imaginary[k]), to, target + k * side, count);
}

template <int R>
HWY_ATTR void run_pass(const FourierPass& pass, const float* factors, int64_t width, FourierSignals from,
                       FourierSignals to) {
  const D d;
  const int64_t side = pass.side_by_side * width, apart = pass.count * side;
  for (int64_t p = 0; p < pass.count; ++p, factors += 2 * (R - 1)) {
    V real[R], imaginary[R];
#pragma GCC unroll 8
    for (int k = 1; k < R; ++k) {
      real[k] = hn::Set(d, factors[2 * (k - 1)]);
      imaginary[k] = hn::Set(d, factors[2 * (k - 1) + 1]);
    }
    real[0] = imaginary[0] = hn::Zero(d);
    const int64_t source = p * side, target = p * R * side;
    int64_t i = 0;
    for (; i + kVector <= side; i += kVector)
      run_butterfly<R, true>(from, source + i, apart, to, target + i, side, real, imaginary, kVector);
    if (i < side) run_butterfly<R, false>(from, source + i, apart, to, target + i, side, real, imaginary, side - i);
  }
}

void pass(const FourierPass& p, const float* factors, int64_t width, FourierSignals from, FourierSignals to) {
  switch (p.radix) {
    case 2:
      return run_pass<2>(p, factors, width, from, to);
    case 3:
      return run_pass<3>(p, factors, width, from, to);
    case 4:
      return run_pass<4>(p, factors, width, from, to);
    case 5:
      return run_pass<5>(p, factors, width, from, to);
    default:
      return run_pass<7>(p, factors, width, from, to);
  }
}

HWY_ATTR void multiply(const float* factors, int64_t count, int64_t width, FourierSignals signals) {
  const D d;
  for (int64_t t = 0; t < count; ++t) {
    const V real = hn::Set(d, factors[2 * t]), imaginary = hn::Set(d, factors[2 * t + 1]);
    int64_t i = 0;
    for (; i + kVector <= width; i += kVector)
      store<true>(times(load<true>(signals, t * width + i, 0), real, imaginary), signals, t * width + i, 0);
    if (i < width)
      store<false>(times(load<false>(signals, t * width + i, width - i), real, imaginary), signals, t * width + i,
                   width - i);
  }
}

constexpr FourierFunctions kFunctions{pass, multiply};
const FourierFunctions& functions() { return kFunctions; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::fourier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace fourier {
TENON_EXPORT(functions);
}
const FourierFunctions& fourier_functions(Isa isa) {
  using namespace fourier;
  return TENON_DISPATCH(functions, isa)();
}
}  // namespace tenon
#endif
