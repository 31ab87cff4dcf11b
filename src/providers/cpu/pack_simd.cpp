#include "providers/cpu/pack.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pack_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::packing {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = 16 / kLanes;  // of a panel's row

// Remembers whether some element was NaN or infinite. Without its sign, such an element and no other reaches the sign
// bit when the lowest exponent bit is added.
class Watch {
 public:
  // Spelled out: an implicit one would be compiled for the base instruction set.
  HWY_INLINE Watch() : seen_(hn::Zero(DU())) {}
  HWY_INLINE void see(V v) {
    const auto bits = hn::BitCast(DU(), v);
    seen_ = hn::Or(seen_, hn::Add(hn::And(bits, hn::Set(DU(), 0x7fffffffu)), hn::Set(DU(), 0x00800000u)));
  }
  HWY_INLINE void see_one(float value) {
    uint32_t bits;
    hwy::CopyBytes<sizeof bits>(&value, &bits);
    seen_one_ |= (bits & 0x7fffffffu) + 0x00800000u;
  }
  HWY_INLINE bool found() const {
    const auto signs = hn::ShiftRight<31>(seen_);
    return seen_one_ >> 31 != 0 || !hn::AllTrue(DU(), hn::Eq(signs, hn::Zero(DU())));
  }

 private:
  using DU = hn::RebindToUnsigned<D>;
  hn::Vec<DU> seen_;
  uint32_t seen_one_ = 0;
};

template <bool Streaming>
HWY_INLINE void put(V v, float* to) {
  if constexpr (Streaming)
    hn::Stream(v, D(), to);
  else
    hn::StoreU(v, D(), to);
}

template <bool Scaled>
HWY_INLINE void load_scales(const float* scale, V* scales) {
  if constexpr (Scaled)
    for (int v = 0; v < kVectors; ++v) scales[v] = hn::LoadU(D(), scale + v * kLanes);
}

#if HWY_TARGET != HWY_SCALAR
// Four neighbours of each of the rows 0, 4, 8, ... that one vector has room for, one row per 128-bit block.
template <class DN>
HWY_INLINE hn::Vec<DN> load_rows(DN d, const float* const* rows, int64_t k) {
  constexpr int kBlocks = static_cast<int>(hn::MaxLanes(DN())) / 4;
  if constexpr (kBlocks == 1) {
    return hn::LoadU(d, rows[0] + k);
  } else {
    const hn::Half<DN> half;
    return hn::Combine(d, load_rows(half, rows + kBlocks / 2 * 4, k), load_rows(half, rows, k));
  }
}

// Transposes the 4x4 numbers in each block of four vectors.
HWY_INLINE void transpose_blocks(V* v) {
  const D d;
  const hn::Repartition<double, D> pairs;
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}

// Four steps of k for all sixteen rows.
template <bool Scaled, bool Streaming>
HWY_INLINE void transpose_four(const float* const* rows, int64_t k, const V* scales, float* to, Watch& watch) {
  V v[kVectors][4];
#pragma GCC unroll 4
  for (int part = 0; part < kVectors; ++part) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) v[part][r] = load_rows(D(), rows + part * kLanes + r, k);
    transpose_blocks(v[part]);
  }
#pragma GCC unroll 4
  for (int step = 0; step < 4; ++step)
#pragma GCC unroll 4
    for (int part = 0; part < kVectors; ++part) {
      V x = v[part][step];
      watch.see(x);
      if constexpr (Scaled) x = hn::Mul(x, scales[part]);
      put<Streaming>(x, to + step * 16 + part * kLanes);
    }
}
#endif

template <bool Scaled, bool Streaming>
HWY_ATTR bool transpose(const float* const* rows, int64_t depth, [[maybe_unused]] const float* scale, float* to) {
  int64_t k = 0;
  Watch watch;
#if HWY_TARGET != HWY_SCALAR
  V scales[kVectors];
  load_scales<Scaled>(scale, scales);
  for (; k + 4 <= depth; k += 4) transpose_four<Scaled, Streaming>(rows, k, scales, to + k * 16, watch);
#endif
  for (; k < depth; ++k)
    for (int j = 0; j < 16; ++j) {
      watch.see_one(rows[j][k]);
      to[k * 16 + j] = Scaled ? rows[j][k] * scale[j] : rows[j][k];
    }
  return watch.found();
}

template <bool Scaled, bool Streaming>
HWY_ATTR bool copy(const float* from, int64_t from_stride, int64_t depth, int64_t panels, const float* scale, float* to,
                   int64_t panel_stride) {
  Watch watch;
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t p = 0; p < panels; ++p) {
      V scales[kVectors];
      load_scales<Scaled>(Scaled ? scale + p * 16 : nullptr, scales);
#pragma GCC unroll 4
      for (int part = 0; part < kVectors; ++part) {
        V x = hn::LoadU(D(), from + k * from_stride + p * 16 + part * kLanes);
        watch.see(x);
        if constexpr (Scaled) x = hn::Mul(x, scales[part]);
        put<Streaming>(x, to + p * panel_stride + k * 16 + part * kLanes);
      }
    }
  return watch.found();
}

bool transpose_any(const float* const* rows, int64_t depth, const float* scale, bool streaming, float* to) {
  const auto run = [&](auto function) { return function(rows, depth, scale, to); };
  if (!streaming) return scale ? run(transpose<true, false>) : run(transpose<false, false>);
  const bool found = scale ? run(transpose<true, true>) : run(transpose<false, true>);
  hwy::FlushStream();
  return found;
}

bool copy_any(const float* from, int64_t from_stride, int64_t depth, int64_t panels, const float* scale, bool streaming,
              float* to, int64_t panel_stride) {
  const auto run = [&](auto function) { return function(from, from_stride, depth, panels, scale, to, panel_stride); };
  if (!streaming) return scale ? run(copy<true, false>) : run(copy<false, false>);
  const bool found = scale ? run(copy<true, true>) : run(copy<false, true>);
  hwy::FlushStream();
  return found;
}

const PackKernels& kernels() {
  static constexpr PackKernels made{transpose_any, copy_any};
  return made;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::packing
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace packing {
TENON_EXPORT(kernels);
}
const PackKernels& pack_kernels(Isa isa) {
  using namespace packing;
  return TENON_DISPATCH(kernels, isa)();
}
}  // namespace tenon
#endif
