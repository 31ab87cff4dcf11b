#include <cmath>

#include "providers/cpu/rows.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/rows_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_math.h"
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

HWY_INLINE V number(float x) { return hn::Set(D(), x); }

// Ways of taking numbers together. `first` is what nothing at all gives.
struct Sum {
  static constexpr float kFirst = 0;
  static HWY_INLINE V of(V x) { return x; }
  static HWY_INLINE V join(V a, V b) { return hn::Add(a, b); }
};
struct SumOfSizes : Sum {
  static HWY_INLINE V of(V x) { return hn::Abs(x); }
};
struct SumOfSquares : Sum {
  static HWY_INLINE V of(V x) { return hn::Mul(x, x); }
};
struct Product {
  static constexpr float kFirst = 1;
  static HWY_INLINE V of(V x) { return x; }
  static HWY_INLINE V join(V a, V b) { return hn::Mul(a, b); }
};
// NaN wins, whichever operand it is.
struct Largest {
  static constexpr float kFirst = -HUGE_VALF;
  static HWY_INLINE V of(V x) { return x; }
  static HWY_INLINE V join(V a, V b) { return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::Not(hn::Eq(a, a))), a, b); }
};
struct Smallest {
  static constexpr float kFirst = HUGE_VALF;
  static HWY_INLINE V of(V x) { return x; }
  static HWY_INLINE V join(V a, V b) { return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::Not(hn::Eq(a, a))), a, b); }
};

// Lanes together: each with the one half a vector away, then a quarter, and so on.
template <class How>
HWY_INLINE float across(V v) {
#if HWY_TARGET == HWY_AVX3
  v = How::join(v, hn::ConcatUpperUpper(D(), v, v));
#endif
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  v = How::join(v, hn::SwapAdjacentBlocks(v));
#endif
#if HWY_TARGET != HWY_SCALAR
  v = How::join(v, hn::Shuffle1032(v));
  v = How::join(v, hn::Shuffle2301(v));
#endif
  return hn::GetLane(v);
}

// Lanes past the count hold what changes nothing.
template <class How>
HWY_INLINE V rest_or_nothing(V x, int64_t count) {
  return hn::IfThenElse(hn::FirstN(D(), static_cast<size_t>(count)), x, number(How::kFirst));
}

template <class How>
HWY_INLINE float reduce_row(const float* x, int64_t count) {
  const D d;
  V a = number(How::kFirst), b = a, c = a, e = a;
  int64_t i = 0;
  for (; i + 4 * kVector <= count; i += 4 * kVector) {
    a = How::join(a, How::of(hn::LoadU(d, x + i)));
    b = How::join(b, How::of(hn::LoadU(d, x + i + kVector)));
    c = How::join(c, How::of(hn::LoadU(d, x + i + 2 * kVector)));
    e = How::join(e, How::of(hn::LoadU(d, x + i + 3 * kVector)));
  }
  for (; i + kVector <= count; i += kVector) a = How::join(a, How::of(hn::LoadU(d, x + i)));
  if (i < count) {
    const int64_t rest = count - i;
    b = How::join(b, rest_or_nothing<How>(How::of(simd::load_rest(d, x + i, rest)), rest));
  }
  return across<How>(How::join(How::join(a, b), How::join(c, e)));
}

template <class How>
HWY_INLINE void accumulate_row(const float* x, float* sums, int64_t count) {
  const D d;
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector)
    hn::StoreU(How::join(hn::LoadU(d, sums + i), How::of(hn::LoadU(d, x + i))), d, sums + i);
  if (i < count) {
    const int64_t rest = count - i;
    simd::store_rest(d, How::join(simd::load_rest(d, sums + i, rest), How::of(simd::load_rest(d, x + i, rest))),
                     sums + i, rest);
  }
}

#define EACH_ACCUMULATION(X) X(Sum) X(SumOfSizes) X(SumOfSquares) X(Product) X(Largest) X(Smallest)

float reduce(Accumulation what, const float* x, int64_t count) {
  switch (what) {
#define X(name)            \
  case Accumulation::name: \
    return reduce_row<name>(x, count);
    EACH_ACCUMULATION(X)
#undef X
  }
  return 0;
}

void accumulate(Accumulation what, const float* x, float* sums, int64_t count) {
  switch (what) {
#define X(name)            \
  case Accumulation::name: \
    return accumulate_row<name>(x, sums, count);
    EACH_ACCUMULATION(X)
#undef X
  }
}

float squares_about(const float* x, float center, int64_t count) {
  const D d;
  const V middle = number(center);
  V a = hn::Zero(d), b = a;
  int64_t i = 0;
  for (; i + 2 * kVector <= count; i += 2 * kVector) {
    const V p = hn::Sub(hn::LoadU(d, x + i), middle), q = hn::Sub(hn::LoadU(d, x + i + kVector), middle);
    a = hn::MulAdd(p, p, a);
    b = hn::MulAdd(q, q, b);
  }
  for (; i < count; i += kVector) {
    const int64_t rest = count - i;
    const V p = rest >= kVector ? hn::Sub(hn::LoadU(d, x + i), middle)
                                : rest_or_nothing<Sum>(hn::Sub(simd::load_rest(d, x + i, rest), middle), rest);
    a = hn::MulAdd(p, p, a);
  }
  return across<Sum>(hn::Add(a, b));
}

template <bool kStore>
HWY_INLINE float sum_exponentials(const float* x, float shift, [[maybe_unused]] float* out, int64_t count) {
  const D d;
  const V largest = number(shift);
  V a = hn::Zero(d), b = a;
  int64_t i = 0;
  for (; i + 2 * kVector <= count; i += 2 * kVector) {
    const V p = simd::exp(d, hn::Sub(hn::LoadU(d, x + i), largest));
    const V q = simd::exp(d, hn::Sub(hn::LoadU(d, x + i + kVector), largest));
    if constexpr (kStore) {
      hn::StoreU(p, d, out + i);
      hn::StoreU(q, d, out + i + kVector);
    }
    a = hn::Add(a, p);
    b = hn::Add(b, q);
  }
  for (; i < count; i += kVector) {
    const int64_t rest = count - i;
    if (rest >= kVector) {
      const V p = simd::exp(d, hn::Sub(hn::LoadU(d, x + i), largest));
      if constexpr (kStore) hn::StoreU(p, d, out + i);
      a = hn::Add(a, p);
    } else {
      const V p = simd::exp(d, hn::Sub(simd::load_rest(d, x + i, rest), largest));
      if constexpr (kStore) simd::store_rest(d, p, out + i, rest);
      b = hn::Add(b, rest_or_nothing<Sum>(p, rest));
    }
  }
  return across<Sum>(hn::Add(a, b));
}

float exponentials(const float* x, float shift, float* out, int64_t count) {
  return sum_exponentials<true>(x, shift, out, count);
}
float sum_of_exponentials(const float* x, float shift, int64_t count) {
  return sum_exponentials<false>(x, shift, nullptr, count);
}

void column_exponentials(const float* x, const float* shifts, float* sums, float* out, int64_t count) {
  const D d;
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) {
    const V p = simd::exp(d, hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, shifts + i)));
    if (out) hn::StoreU(p, d, out + i);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), p), d, sums + i);
  }
  if (i < count) {
    const int64_t rest = count - i;
    const V p = simd::exp(d, hn::Sub(simd::load_rest(d, x + i, rest), simd::load_rest(d, shifts + i, rest)));
    if (out) simd::store_rest(d, p, out + i, rest);
    simd::store_rest(d, hn::Add(simd::load_rest(d, sums + i, rest), p), sums + i, rest);
  }
}

void scale(const float* x, float shift, float factor, float* out, int64_t count) {
  const D d;
  const V s = number(shift), f = number(factor);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(hn::Mul(hn::Sub(hn::LoadU(d, x + i), s), f), d, out + i);
  if (i < count) simd::store_rest(d, hn::Mul(hn::Sub(simd::load_rest(d, x + i, count - i), s), f), out + i, count - i);
}

void normalize(const float* x, float center, float factor, const float* scales, const float* bias, float* out,
               int64_t count) {
  const D d;
  const V c = number(center), f = number(factor);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) {
    const V y = hn::Mul(hn::Sub(hn::LoadU(d, x + i), c), f), s = hn::LoadU(d, scales + i);
    hn::StoreU(bias ? hn::MulAdd(y, s, hn::LoadU(d, bias + i)) : hn::Mul(y, s), d, out + i);
  }
  if (i < count) {
    const int64_t rest = count - i;
    const V y = hn::Mul(hn::Sub(simd::load_rest(d, x + i, rest), c), f), s = simd::load_rest(d, scales + i, rest);
    simd::store_rest(d, bias ? hn::MulAdd(y, s, simd::load_rest(d, bias + i, rest)) : hn::Mul(y, s), out + i, rest);
  }
}

const RowFunctions* pick() {
  static const RowFunctions functions{
      reduce, accumulate, squares_about, exponentials, sum_of_exponentials, column_exponentials, scale, normalize};
  return &functions;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace rows {
TENON_EXPORT(pick);
}
const RowFunctions& row_functions(Isa isa) {
  using namespace rows;
  return *TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
