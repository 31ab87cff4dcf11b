#include "providers/cpu/resample.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/resample_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/simd_rest.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::resampling {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(D()));

HWY_ATTR void blend(const float* const* rows, const float* weights, int64_t row_count, int64_t count, float* out) {
  const D d;
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) {
    V sum = hn::Zero(d);
    for (int64_t r = 0; r < row_count; ++r) sum = hn::MulAdd(hn::Set(d, weights[r]), hn::LoadU(d, rows[r] + i), sum);
    hn::StoreU(sum, d, out + i);
  }
  if (i < count) {
    V sum = hn::Zero(d);
    for (int64_t r = 0; r < row_count; ++r)
      sum = hn::MulAdd(hn::Set(d, weights[r]), simd::load_rest(d, rows[r] + i, count - i), sum);
    simd::store_rest(d, sum, out + i, count - i);
  }
}

HWY_ATTR void sample(const float* row, const int32_t* index, const float* weights, int64_t taps, int64_t stride,
                     int64_t count, float* out) {
  const D d;
  const hn::RebindToSigned<D> di;
  for (int64_t i = 0; i < count; i += kVector) {
    V sum = hn::Zero(d);
    for (int64_t t = 0; t < taps; ++t) {
      const V weight = hn::LoadU(d, weights + t * stride + i);
      const V x = hn::GatherIndex(d, row, hn::LoadU(di, index + t * stride + i));
      sum = hn::IfThenElse(hn::Ne(weight, hn::Zero(d)), hn::MulAdd(weight, x, sum), sum);
    }
    if (i + kVector <= count)
      hn::StoreU(sum, d, out + i);
    else
      simd::store_rest(d, sum, out + i, count - i);
  }
}

const ResampleFunctions* pick() {
  static constexpr ResampleFunctions kFunctions{blend, sample};
  return &kFunctions;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::resampling
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace resampling {
TENON_EXPORT(pick);
}
const ResampleFunctions& resample_functions(Isa isa) {
  using namespace resampling;
  return *TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
