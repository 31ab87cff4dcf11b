#include <algorithm>

#include "providers/cpu/ranks.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/ranks_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::ranks {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Integers = hn::ScalableTag<int32_t>;
constexpr int64_t kVector = static_cast<int64_t>(hn::MaxLanes(Integers()));

// As float_rank has it.
HWY_INLINE hn::Vec<Integers> rank_vector(hn::Vec<Integers> bits, hn::Vec<Integers> turn) {
  const Integers d;
  const auto size = hn::And(bits, hn::Set(d, 0x7fffffff));
  bits = hn::IfThenZeroElse(hn::Eq(size, hn::Zero(d)), bits);
  const auto order = hn::Xor(bits, hn::And(hn::ShiftRight<31>(bits), hn::Set(d, 0x7fffffff)));
  return hn::IfThenElse(hn::Gt(size, hn::Set(d, 0x7f800000)), hn::Set(d, 0x7fffffff), hn::Xor(order, turn));
}

HWY_ATTR int32_t rank(const float* x, int64_t count, bool largest, int32_t* ranks) {
  const Integers d;
  const auto turn = hn::Set(d, largest ? 0 : -1);
  const hn::Repartition<float, Integers> floats;
  auto best = hn::Set(d, std::numeric_limits<int32_t>::min());
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) {
    const auto found = rank_vector(hn::BitCast(d, hn::LoadU(floats, x + i)), turn);
    hn::StoreU(found, d, ranks + i);
    best = hn::Max(best, found);
  }
  HWY_ALIGN int32_t lanes[kVector];
  hn::Store(best, d, lanes);
  int32_t top = *std::max_element(lanes, lanes + kVector);
  for (; i < count; ++i) {
    ranks[i] = float_rank(x[i], largest);
    top = HWY_MAX(top, ranks[i]);
  }
  return top;
}

RankFloatsFunction pick() { return rank; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::ranks
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace ranks {
TENON_EXPORT(pick);
}
RankFloatsFunction rank_floats_function(Isa isa) {
  using namespace ranks;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
