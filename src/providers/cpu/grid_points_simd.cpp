#include "providers/cpu/grid_points.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/grid_points_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::grid {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

HWY_INLINE hn::Vec<D> sample_vector(const GridPoints& points, const float* image, int64_t first) {
  const D d;
  const hn::RebindToSigned<D> places;
  auto sum = hn::Zero(d);
  for (int64_t tap = 0; tap < points.taps; ++tap) {
    const int64_t at = tap * points.stride + first;
    const auto weight = hn::LoadU(d, points.weights + at);
    const auto pixel = hn::GatherIndex(d, image, hn::LoadU(places, points.offsets + at));
    sum = hn::MulAdd(weight, hn::IfThenZeroElse(hn::Eq(weight, hn::Zero(d)), pixel), sum);
  }
  return sum;
}

HWY_ATTR void sample(const GridPoints& points, const float* image, float* to) {
  int64_t i = 0;
  for (; i + kVector <= points.count; i += kVector) hn::StoreU(sample_vector(points, image, i), D(), to + i);
  if (i < points.count) simd::store_rest(D(), sample_vector(points, image, i), to + i, points.count - i);
}

SamplePointsFunction pick() { return sample; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::grid
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace grid {
TENON_EXPORT(pick);
}
SamplePointsFunction sample_points_function(Isa isa) {
  using namespace grid;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
