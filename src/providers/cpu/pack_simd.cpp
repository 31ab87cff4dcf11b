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
HWY_INLINE void transpose_four(const float* const* rows, int64_t k, const V* scales, float* to) {
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
      if constexpr (Scaled) x = hn::Mul(x, scales[part]);
      put<Streaming>(x, to + step * 16 + part * kLanes);
    }
}
#endif

template <bool Scaled, bool Streaming>
HWY_ATTR void transpose(const float* const* rows, int64_t depth, [[maybe_unused]] const float* scale, float* to) {
  int64_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  V scales[kVectors];
  load_scales<Scaled>(scale, scales);
  for (; k + 4 <= depth; k += 4) transpose_four<Scaled, Streaming>(rows, k, scales, to + k * 16);
#endif
  for (; k < depth; ++k)
    for (int j = 0; j < 16; ++j) to[k * 16 + j] = Scaled ? rows[j][k] * scale[j] : rows[j][k];
}

template <bool Scaled, bool Streaming>
HWY_ATTR void copy(const float* from, int64_t from_stride, int64_t depth, int64_t panels, const float* scale, float* to,
                   int64_t panel_stride) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t p = 0; p < panels; ++p) {
      V scales[kVectors];
      load_scales<Scaled>(Scaled ? scale + p * 16 : nullptr, scales);
#pragma GCC unroll 4
      for (int part = 0; part < kVectors; ++part) {
        V x = hn::LoadU(D(), from + k * from_stride + p * 16 + part * kLanes);
        if constexpr (Scaled) x = hn::Mul(x, scales[part]);
        put<Streaming>(x, to + p * panel_stride + k * 16 + part * kLanes);
      }
    }
}

void transpose_any(const float* const* rows, int64_t depth, const float* scale, bool streaming, float* to) {
  if (streaming) {
    scale ? transpose<true, true>(rows, depth, scale, to) : transpose<false, true>(rows, depth, scale, to);
    hwy::FlushStream();
  } else {
    scale ? transpose<true, false>(rows, depth, scale, to) : transpose<false, false>(rows, depth, scale, to);
  }
}

void copy_any(const float* from, int64_t from_stride, int64_t depth, int64_t panels, const float* scale, bool streaming,
              float* to, int64_t panel_stride) {
  const auto run = [&](auto function) { function(from, from_stride, depth, panels, scale, to, panel_stride); };
  if (streaming) {
    scale ? run(copy<true, true>) : run(copy<false, true>);
    hwy::FlushStream();
  } else {
    scale ? run(copy<true, false>) : run(copy<false, false>);
  }
}

const PackKernels& kernels() {
  static constexpr PackKernels made{transpose_any, copy_any};
  return made;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::packing
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {
namespace packing {
HWY_EXPORT(kernels);
}
const PackKernels& pack_kernels() {
  using namespace packing;
  return HWY_DYNAMIC_DISPATCH(kernels)();
}
}  // namespace tenon
#endif
