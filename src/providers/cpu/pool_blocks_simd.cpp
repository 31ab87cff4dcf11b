#include <cmath>

#include "providers/cpu/pool_blocks.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pool_blocks_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::pool_blocks {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

struct Largest {
  static HWY_INLINE V first() { return hn::Set(D(), -HUGE_VALF); }
  // NaN wins, whichever operand it is.
  static HWY_INLINE V join(V a, V b) { return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::Not(hn::Eq(a, a))), a, b); }
};
struct Sum {
  static HWY_INLINE V first() { return hn::Zero(D()); }
  static HWY_INLINE V join(V a, V b) { return hn::Add(a, b); }
};

template <class Method>
HWY_ATTR void pool(const PoolRow& row) {
  const D d;
  for (int64_t column = 0; column < row.columns; ++column) {
    const auto [first, last] = row.taps_inside(column);
    const V count = row.counts ? hn::Set(d, row.counts[column]) : hn::Zero(d);
    for (int64_t lane = 0; lane < 16; lane += kLanes) {
      V result = Method::first();
      for (int64_t r = 0; r < row.rows; ++r) {
        const float* x = row.inputs[r] + (column * row.stride - row.pad) * 16 + lane;
        for (int64_t t = first; t < last; ++t) result = Method::join(hn::LoadU(d, x + t * row.dilation * 16), result);
      }
      if (row.counts) result = hn::Div(result, count);
      hn::StoreU(result, d, row.y + column * 16 + lane);
    }
  }
}

void run(const PoolRow& row) { row.counts ? pool<Sum>(row) : pool<Largest>(row); }

// Several positions at once, as each result waits for the one before.
template <class Method>
HWY_ATTR void reduce_block(const float* x, int64_t positions, float* result) {
  constexpr int64_t kPositions = 4;
  const D d;
  for (int64_t lane = 0; lane < 16; lane += kLanes) {
    V all[kPositions] = {Method::first(), Method::first(), Method::first(), Method::first()};
    int64_t i = 0;
    for (; i + kPositions <= positions; i += kPositions)
#pragma GCC unroll 4
      for (int64_t k = 0; k < kPositions; ++k) all[k] = Method::join(hn::LoadU(d, x + (i + k) * 16 + lane), all[k]);
    for (; i < positions; ++i) all[0] = Method::join(hn::LoadU(d, x + i * 16 + lane), all[0]);
    hn::StoreU(Method::join(Method::join(all[0], all[1]), Method::join(all[2], all[3])), d, result + lane);
  }
}

void reduce(const float* x, int64_t positions, bool largest, float* result) {
  largest ? reduce_block<Largest>(x, positions, result) : reduce_block<Sum>(x, positions, result);
}

PoolRowFunction pick() { return run; }
BlockReduction pick_reduction() { return reduce; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::pool_blocks
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace pool_blocks {
TENON_EXPORT(pick);
TENON_EXPORT(pick_reduction);
}  // namespace pool_blocks
BlockReduction block_reduction(Isa isa) {
  using namespace pool_blocks;
  return TENON_DISPATCH(pick_reduction, isa)();
}
PoolRowFunction pool_row_function(Isa isa) {
  using namespace pool_blocks;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
