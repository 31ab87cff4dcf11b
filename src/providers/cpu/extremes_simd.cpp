#include "providers/cpu/extremes.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/extremes_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::extremes {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
using Places = hn::RebindToSigned<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

template <bool kLargest>
HWY_INLINE hn::Mask<D> comes_before(V a, V b) {
  return hn::Or(kLargest ? hn::Gt(a, b) : hn::Lt(a, b), hn::AndNot(hn::IsNaN(b), hn::IsNaN(a)));
}

template <bool kWhole>
HWY_INLINE V load(const float* from, int64_t count) {
  return kWhole ? hn::LoadU(D(), from) : simd::load_rest(D(), from, count);
}

// Up to a vector of columns; kWhole: all of it.
template <bool kLargest, bool kLast, bool kWhole>
HWY_INLINE void find_columns(const ColumnExtremes& o, int64_t column, int64_t count) {
  const Places places;
  const float* from = o.from + column;
  V best = load<kWhole>(from, count);
  auto at = hn::Zero(places);
  for (int64_t k = 1; k < o.extent; ++k) {
    const V x = load<kWhole>(from + k * o.stride, count);
    const auto better = kLast ? hn::Not(comes_before<kLargest>(best, x)) : comes_before<kLargest>(x, best);
    best = hn::IfThenElse(better, x, best);
    at = hn::IfThenElse(hn::RebindMask(places, better), hn::Set(places, static_cast<int32_t>(k)), at);
  }
  HWY_ALIGN int32_t found[16];
  hn::Store(at, places, found);
  for (int64_t j = 0; j < count; ++j) o.to[column + j] = found[j];
}

template <bool kLargest, bool kLast>
HWY_ATTR void find_all(const ColumnExtremes& o) {
  int64_t column = 0;
  for (; column + kVector <= o.count; column += kVector) find_columns<kLargest, kLast, true>(o, column, kVector);
  if (column < o.count) find_columns<kLargest, kLast, false>(o, column, o.count - column);
}

void find(const ColumnExtremes& o) {
  if (o.largest)
    o.last ? find_all<true, true>(o) : find_all<true, false>(o);
  else
    o.last ? find_all<false, true>(o) : find_all<false, false>(o);
}

ColumnExtremesFunction pick() { return find; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::extremes
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace extremes {
TENON_EXPORT(pick);
}
ColumnExtremesFunction column_extremes_function(Isa isa) {
  using namespace extremes;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
