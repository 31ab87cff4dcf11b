#include "providers/cpu/interleave.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/interleave_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::interleaving {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Two rows that fill the output together; vectors, while there are whole ones.
HWY_INLINE int64_t zip_two(const Interleave& o) {
  const hn::CappedTag<float, 16> d;
  constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  const float *even = o.from, *odd = o.from + o.from_stride;
  int64_t i = 0;
  for (; i + kLanes <= o.count; i += kLanes)
    hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, o.to + 2 * i);
  return i;
}

// Four rows, of which four neighbours in the output come at a time.
HWY_INLINE int64_t zip_four(const Interleave& o, int64_t row) {
  const hn::Full128<float> d;
  const hn::Full128<double> pairs;
  const float* from = o.from + row * o.from_stride;
  float* to = o.to + row;
  int64_t i = 0;
  for (; i + 4 <= o.count; i += 4) {
    const auto a = hn::LoadU(d, from + i), b = hn::LoadU(d, from + o.from_stride + i);
    const auto c = hn::LoadU(d, from + 2 * o.from_stride + i), e = hn::LoadU(d, from + 3 * o.from_stride + i);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to + i * o.step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + (i + 1) * o.step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + (i + 2) * o.step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + (i + 3) * o.step);
  }
  return i;
}
#endif

// Rows [row, last), from number `done` on.
HWY_INLINE void zip_rest(const Interleave& o, int64_t row, int64_t last, int64_t done) {
  for (; row < last; ++row) {
    const float* from = o.from + row * o.from_stride;
    for (int64_t i = done; i < o.count; ++i) o.to[i * o.step + row] = from[i];
  }
}

HWY_ATTR void interleave(const Interleave& o) {
  int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  if (o.rows == 2 && o.step == 2) return zip_rest(o, 0, 2, zip_two(o));
  for (; row + 4 <= o.rows; row += 4) zip_rest(o, row, row + 4, zip_four(o, row));
#endif
  zip_rest(o, row, o.rows, 0);
}

InterleaveFunction pick() { return interleave; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::interleaving
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace interleaving {
TENON_EXPORT(pick);
}
InterleaveFunction interleave_function(Isa isa) {
  using namespace interleaving;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
