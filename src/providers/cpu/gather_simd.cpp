#include "providers/cpu/gather.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gather_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::gathering {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole vectors; the last one overlaps the one before, so that nothing outside is touched.
template <int Lanes>
HWY_INLINE bool copy_vectors(const float* from, float* to, int64_t count) {
  const hn::CappedTag<float, Lanes> d;
  constexpr int64_t kStep = static_cast<int64_t>(hn::MaxLanes(d));
  if (count < kStep) return false;
  for (int64_t i = 0; i + kStep <= count; i += kStep) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  hn::StoreU(hn::LoadU(d, from + count - kStep), d, to + count - kStep);
  return true;
}

// Every other number, while a vector's reads end before the last of them.
HWY_INLINE int64_t copy_every_second([[maybe_unused]] const float* from, [[maybe_unused]] float* to,
                                     [[maybe_unused]] int64_t count) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 8> d;
  constexpr int64_t kStep = static_cast<int64_t>(hn::MaxLanes(d));
  for (; i + kStep < count; i += kStep) {
    hn::Vec<decltype(d)> even, odd;
    hn::LoadInterleaved2(d, from + 2 * i, even, odd);
    hn::StoreU(even, d, to + i);
  }
#endif
  return i;
}

HWY_INLINE void copy_piece(const float* from, int64_t step, float* to, int64_t count) {
  if (step == 1 &&
      (copy_vectors<16>(from, to, count) || copy_vectors<8>(from, to, count) || copy_vectors<4>(from, to, count)))
    return;
  for (int64_t i = step == 2 ? copy_every_second(from, to, count) : 0; i < count; ++i) to[i] = from[i * step];
}

HWY_ATTR void gather(const Gather& g) {
  for (int64_t channel = 0; channel < g.channels; ++channel) {
    const float* from = g.from + channel * g.from_stride;
    float* to = g.to + channel * g.to_stride;
    for (int64_t p = 0; p < g.piece_count; ++p) {
      const GatherPiece& piece = g.pieces[p];
      if (piece.from >= 0)
        copy_piece(from + piece.from, g.step, to + piece.to, piece.count);
      else
        for (int32_t i = 0; i < piece.count; ++i) to[piece.to + i] = 0.0f;
    }
  }
}

GatherFunction pick() { return gather; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon::gathering
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace gathering {
TENON_EXPORT(pick);
}
GatherFunction gather_function(Isa isa) {
  using namespace gathering;
  return TENON_DISPATCH(pick, isa)();
}
}  // namespace tenon
#endif
