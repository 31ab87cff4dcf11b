#include "providers/cpu/depthwise.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/depthwise_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::depthwise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

// Several vectors at once keep the multipliers busy while each sum waits for its last product.
template <int Vectors>
HWY_INLINE void sum_taps(const float* in, const int32_t* offsets, const float* weights, int64_t taps, float* out) {
  const D d;
  V sums[Vectors];
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) sums[v] = hn::Zero(d);
#pragma GCC unroll 1
  for (int64_t t = 0; t < taps; ++t) {
    const V weight = hn::Set(d, weights[t]);
    const float* from = in + offsets[t];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sums[v] = hn::MulAdd(hn::LoadU(d, from + v * kLanes), weight, sums[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[v], d, out + v * kLanes);
}

HWY_ATTR void run(const float* in, const int32_t* offsets, const float* weights, int64_t taps, float* out,
                  int64_t count) {
  int64_t i = 0;
  for (; i + 8 * kLanes <= count; i += 8 * kLanes) sum_taps<8>(in + i, offsets, weights, taps, out + i);
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) sum_taps<2>(in + i, offsets, weights, taps, out + i);
  for (; i < count; i += kLanes) sum_taps<1>(in + i, offsets, weights, taps, out + i);
}

DepthwiseFunction pick() { return run; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::depthwise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace depthwise {
TENON_EXPORT(pick);
}
DepthwiseFunction depthwise_function(Isa isa) {
  using namespace depthwise;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
