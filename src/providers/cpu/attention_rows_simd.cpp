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

HWY_ATTR void add(float* scores, const float* mask, int64_t count) {
  const D d;
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector)
    hn::StoreU(hn::Add(hn::LoadU(d, scores + i), hn::LoadU(d, mask + i)), d, scores + i);
  for (; i < count; ++i) scores[i] += mask[i];
}

const AttentionRowFunctions* pick() {
  static const AttentionRowFunctions functions{products, cap, add};
  return &functions;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::attention_rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace attention_rows {
HWY_EXPORT(pick);
}
const AttentionRowFunctions& attention_row_functions(Isa isa) {
  using namespace attention_rows;
  return *TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
