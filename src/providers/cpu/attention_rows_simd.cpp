#include <cmath>
#include "providers/cpu/attention_rows.h"

#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/attention_rows_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_math.h"
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::attention_rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

HWY_INLINE float product(const float* a, const float* b, int64_t depth) {
  const D d;
  V even = hn::Zero(d), odd = even;
  int64_t i = 0;
  for (; i + 2 * kVector <= depth; i += 2 * kVector) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + kVector), hn::LoadU(d, b + i + kVector), odd);
  }
  for (; i + kVector <= depth; i += kVector) even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
  if (i < depth) odd = hn::MulAdd(simd::load_rest(d, a + i, depth - i), simd::load_rest(d, b + i, depth - i), odd);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

HWY_ATTR void products(const float* query, const float* keys, int64_t stride, int64_t depth, float* scores,
                       int64_t count) {
  for (int64_t j = 0; j < count; ++j) scores[j] = product(query, keys + j * stride, depth);
}

HWY_INLINE V capped(V x, V cap) {
  const D d;
  return hn::Mul(simd::tanh(d, hn::Div(x, cap)), cap);
}

HWY_ATTR void cap(float* scores, float most, int64_t count) {
  const D d;
  const V limit = hn::Set(d, most);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) hn::StoreU(capped(hn::LoadU(d, scores + i), limit), d, scores + i);
  if (i < count) simd::store_rest(d, capped(simd::load_rest(d, scores + i, count - i), limit), scores + i, count - i);
}

// The largest of what `change` makes of scores; vectors first, then one by one.
template <bool kStores, class Vectors, class Numbers>
HWY_INLINE float largest_of(float* scores, int64_t count, const Vectors& vector_at, const Numbers& number_at) {
  const D d;
  V a = hn::Set(d, -HUGE_VALF), b = a;
  int64_t i = 0;
  for (; i + 2 * kVector <= count; i += 2 * kVector) {
    const V x = vector_at(i), y = vector_at(i + kVector);
    if constexpr (kStores) hn::StoreU(x, d, scores + i);
    if constexpr (kStores) hn::StoreU(y, d, scores + i + kVector);
    a = hn::Max(x, a);
    b = hn::Max(y, b);
  }
  for (; i + kVector <= count; i += kVector) {
    const V x = vector_at(i);
    if constexpr (kStores) hn::StoreU(x, d, scores + i);
    a = hn::Max(x, a);
  }
  float largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  for (; i < count; ++i) {
    const float x = number_at(i);
    if constexpr (kStores) scores[i] = x;
    largest = x > largest ? x : largest;
  }
  return largest;
}

HWY_ATTR float largest(const float* scores, int64_t count) {
  const D d;
  return largest_of<false>(
      nullptr, count, [&](int64_t i) HWY_ATTR { return hn::LoadU(d, scores + i); },
      [&](int64_t i) { return scores[i]; });
}

HWY_ATTR float add(float* scores, const float* mask, int64_t count) {
  const D d;
  return largest_of<true>(
      scores, count, [&](int64_t i) HWY_ATTR { return hn::Add(hn::LoadU(d, scores + i), hn::LoadU(d, mask + i)); },
      [&](int64_t i) { return scores[i] + mask[i]; });
}

HWY_ATTR float hide(float* scores, const bool* allowed, float hidden, int64_t count) {
  const D d;
  const hn::Rebind<uint8_t, D> bytes;
  const hn::RebindToSigned<D> wide;
  const V low = hn::Set(d, hidden);
  return largest_of<true>(
      scores, count,
      [&](int64_t i) HWY_ATTR {
        const auto seen = hn::PromoteTo(wide, hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(allowed + i)));
        return hn::IfThenElse(hn::RebindMask(d, hn::Ne(seen, hn::Zero(wide))), hn::LoadU(d, scores + i), low);
      },
      [&](int64_t i) { return allowed[i] ? scores[i] : hidden; });
}

// exp(x) for x up to 0.
HWY_INLINE V exp_below(V x) {
  const D d;
  const V low = hn::Set(d, -87.33f);
  const auto is_small = hn::Lt(x, low);
  const V y = hn::IfThenZeroElse(is_small, simd::exp_inside(d, hn::IfThenElse(is_small, low, x)));
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

HWY_ATTR float weigh(float* scores, float largest, int64_t count) {
  const D d;
  const V shift = hn::Set(d, largest);
  V a = hn::Zero(d), b = a;
  int64_t i = 0;
  for (; i + 2 * kVector <= count; i += 2 * kVector) {
    const V p = exp_below(hn::Sub(hn::LoadU(d, scores + i), shift));
    const V q = exp_below(hn::Sub(hn::LoadU(d, scores + i + kVector), shift));
    hn::StoreU(p, d, scores + i);
    hn::StoreU(q, d, scores + i + kVector);
    a = hn::Add(a, p);
    b = hn::Add(b, q);
  }
  for (; i + kVector <= count; i += kVector) {
    const V p = exp_below(hn::Sub(hn::LoadU(d, scores + i), shift));
    hn::StoreU(p, d, scores + i);
    a = hn::Add(a, p);
  }
  if (i < count) {
    const int64_t rest = count - i;
    const V p = exp_below(hn::Sub(simd::load_rest(d, scores + i, rest), shift));
    simd::store_rest(d, p, scores + i, rest);
    b = hn::Add(b, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(rest)), p));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

const AttentionRowFunctions* pick() {
  static const AttentionRowFunctions functions{products, largest, cap, add, hide, weigh};
  return &functions;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::attention_rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace attention_rows {
TENON_EXPORT(pick);
}
const AttentionRowFunctions& attention_row_functions(Isa isa) {
  using namespace attention_rows;
  return *TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
