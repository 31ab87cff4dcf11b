#include "providers/cpu/multiply_adds.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/multiply_adds_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::multiply_adds {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// More chains than the machine starts multiply-adds while one is under way, and no more than there are registers.
constexpr int kChains = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 24 : 12;

int64_t run(int64_t rounds, float* result) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  // Sums go towards 2, each from a place of its own: the compiler computes equal ones once.
  const V half = hn::Set(d, 0.5f), one = hn::Set(d, 1.0f);
  V sums[kChains];
#pragma GCC unroll 32
  for (int i = 0; i < kChains; ++i) sums[i] = hn::Set(d, *result + static_cast<float>(i));
#pragma GCC unroll 1
  for (int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 32
    for (auto& sum : sums) sum = hn::MulAdd(sum, half, one);
  V all = sums[0];
#pragma GCC unroll 32
  for (const auto& sum : sums) all = hn::Max(all, sum);
  *result = hn::GetLane(all);
  return 2 * kChains * static_cast<int64_t>(hn::Lanes(d)) * rounds;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::multiply_adds
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace multiply_adds {
TENON_EXPORT(run);
}
int64_t run_multiply_adds(Isa isa, int64_t rounds, float* result) {
  using namespace multiply_adds;
  return TENON_DISPATCH(run, isa)(rounds, result);
}
}  // namespace tenon
#endif
