#include "providers/cpu/normalization_blocks.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/normalization_blocks_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::normalization_blocks {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
// Positions at a time, as each sum waits for the one before.
constexpr int64_t kPositions = 4;

// The sum over positions of term(vector).
template <class Term>
HWY_INLINE V sum_of(const float* x, int64_t positions, const Term& term) {
  const D d;
  V sums[kPositions] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  int64_t i = 0;
  for (; i + kPositions <= positions; i += kPositions)
#pragma GCC unroll 4
    for (int64_t k = 0; k < kPositions; ++k) sums[k] = term(hn::LoadU(d, x + (i + k) * 16), sums[k]);
  for (; i < positions; ++i) sums[0] = term(hn::LoadU(d, x + i * 16), sums[0]);
  return hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
}

HWY_ATTR void moments(const float* x, int64_t positions, float* means, float* squares) {
  const D d;
  const V count = hn::Set(d, static_cast<float>(positions));
  for (int lane = 0; lane < 16; lane += kLanes) {
    const V mean = hn::Div(sum_of(x + lane, positions, [](V v, V sum) HWY_ATTR { return hn::Add(sum, v); }), count);
    hn::StoreU(mean, d, means + lane);
    const auto add_square = [mean](V v, V sum) HWY_ATTR {
      const V rest = hn::Sub(v, mean);
      return hn::MulAdd(rest, rest, sum);
    };
    hn::StoreU(sum_of(x + lane, positions, add_square), d, squares + lane);
  }
}

HWY_ATTR void normalize(const float* x, int64_t positions, const float* means, const float* factors,
                        const float* biases, float* y) {
  const D d;
  for (int lane = 0; lane < 16; lane += kLanes) {
    const V mean = hn::LoadU(d, means + lane), factor = hn::LoadU(d, factors + lane),
            bias = hn::LoadU(d, biases + lane);
    for (int64_t i = lane; i < positions * 16; i += 16)
      hn::StoreU(hn::MulAdd(hn::Sub(hn::LoadU(d, x + i), mean), factor, bias), d, y + i);
  }
}

const BlockNormalization& pick() {
  static constexpr BlockNormalization kFunctions{moments, normalize};
  return kFunctions;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::normalization_blocks
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace normalization_blocks {
TENON_EXPORT(pick);
}
const BlockNormalization& block_normalization(Isa isa) {
  using namespace normalization_blocks;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
