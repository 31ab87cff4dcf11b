#include "providers/cpu/simd_targets.h"
#include "providers/cpu/to_rows.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/to_rows_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::columns {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Four columns of four channels.
HWY_INLINE void four_to_rows(const float* x, int64_t from_stride, float* y, int64_t to_stride) {
  const hn::CappedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto v0 = hn::LoadU(d, x), v1 = hn::LoadU(d, x + from_stride), v2 = hn::LoadU(d, x + 2 * from_stride),
             v3 = hn::LoadU(d, x + 3 * from_stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v0, v1));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v0, v1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, y);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, y + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, y + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, y + 3 * to_stride);
}
#endif

HWY_ATTR void to_rows(const float* from, int64_t from_stride, int64_t count, float* to, int64_t to_stride) {
  int64_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  // A whole cache line of four rows at a time: lines of rows that lie a power of two apart push each other out.
  for (; k + 16 <= count; k += 16)
    for (int j = 0; j < 16; j += 4)
      for (int64_t i = k; i < k + 16; i += 4)
        four_to_rows(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
  for (; k + 4 <= count; k += 4)
    for (int j = 0; j < 16; j += 4)
      four_to_rows(from + k * from_stride + j, from_stride, to + j * to_stride + k, to_stride);
#endif
  for (; k < count; ++k)
    for (int j = 0; j < 16; ++j) to[j * to_stride + k] = from[k * from_stride + j];
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::columns
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace columns {
TENON_EXPORT(to_rows);
}
ToRowsFunction to_rows_function(Isa isa) {
  using namespace columns;
  return TENON_DISPATCH(to_rows, isa);
}
}  // namespace tenon
#endif
