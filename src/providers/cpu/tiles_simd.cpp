#include "providers/cpu/simd_targets.h"
#include "providers/cpu/tiles.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/tiles_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::tiles {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sixteen columns are one vector of AVX-512, two of AVX2, four of SSE4 and NEON.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = 16 / kLanes;  // of a panel
constexpr int kRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 32 : 16;

// With so few rows the machine waits for B, which is then fetched so many floats ahead.
constexpr int kFewTileRows = 4, kStreamsAhead = 16 * 16;

// Sums, the shorter side of the operands, and one of the other.
constexpr bool fits(int rows, int panels) {
  const int columns = panels * kVectors;
  return rows * columns + (rows < columns ? rows : columns) + 1 <= kRegisters;
}

constexpr int most_rows() {
  int rows = 1;
  while (rows < kMostTileRows && fits(rows + 1, 1)) ++rows;
  return rows;
}

constexpr int most_panels(int rows) {
  int panels = 1;
  while (panels < kMostTilePanels && fits(rows, panels + 1)) ++panels;
  return panels;
}

template <int Rows, int Panels, TileOrder Order>
HWY_ATTR TENON_HOT void multiply_tile(const TileOperands& o) {
  constexpr int kColumns = Panels * kVectors;
  const D d;
  const float* HWY_RESTRICT a = o.a;
  const float* HWY_RESTRICT b = o.b;
  [[maybe_unused]] const int32_t* HWY_RESTRICT offsets = o.b_offsets;
  float* HWY_RESTRICT c = o.c;
  const int64_t a_stride = o.a_stride, panel_stride = o.b_panel_stride, depth_stride = o.b_depth_stride;
  V sums[Rows][kColumns];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j)
      sums[i][j] = o.accumulate ? hn::LoadU(d, c + i * o.c_stride + j * kLanes) : hn::Zero(d);
  const float* next = o.next ? o.next : o.b;
  const int64_t next_step = o.next ? 16 : 0;
  constexpr bool kStreams = Order == TileOrder::RowMajor && Rows <= kFewTileRows;
#pragma GCC unroll 1
  for (int64_t k = 0; k < o.depth; ++k) {
    // To the second-level cache: the first one is full of what is multiplied now.
    if constexpr (kStreams) {
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) __builtin_prefetch(b + p * panel_stride + kStreamsAhead, 0, 3);
    } else if constexpr (Order == TileOrder::RowMajor) {
      __builtin_prefetch(next, 0, 2);
      next += next_step;
    }
    if constexpr (Order == TileOrder::DepthMajorByOffsets) b = o.b + offsets[k];
    if constexpr (Rows < kColumns) {
      V left[Rows];
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) left[i] = hn::Set(d, Order == TileOrder::RowMajor ? a[i * a_stride] : a[i]);
#pragma GCC unroll 16
      for (int j = 0; j < kColumns; ++j) {
        const V right = hn::LoadU(d, b + j / kVectors * panel_stride + j % kVectors * kLanes);
#pragma GCC unroll 16
        for (int i = 0; i < Rows; ++i) sums[i][j] = hn::MulAdd(left[i], right, sums[i][j]);
      }
    } else {
      V right[kColumns];
#pragma GCC unroll 16
      for (int j = 0; j < kColumns; ++j)
        right[j] = hn::LoadU(d, b + j / kVectors * panel_stride + j % kVectors * kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) {
        const V left = hn::Set(d, Order == TileOrder::RowMajor ? a[i * a_stride] : a[i]);
#pragma GCC unroll 16
        for (int j = 0; j < kColumns; ++j) sums[i][j] = hn::MulAdd(left, right[j], sums[i][j]);
      }
    }
    a += Order == TileOrder::RowMajor ? 1 : a_stride;
    if constexpr (Order != TileOrder::DepthMajorByOffsets) b += depth_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j) hn::StoreU(sums[i][j], d, c + i * o.c_stride + j * kLanes);
}

template <int Rows, int Panels>
void add_tiles(TileTable& table) {
  table.function[0][Rows][Panels] = &multiply_tile<Rows, Panels, TileOrder::RowMajor>;
  table.function[1][Rows][Panels] = &multiply_tile<Rows, Panels, TileOrder::DepthMajor>;
  table.function[2][Rows][Panels] = &multiply_tile<Rows, Panels, TileOrder::DepthMajorByOffsets>;
  if constexpr (Panels > 1) add_tiles<Rows, Panels - 1>(table);
}

template <int Rows>
void add_rows(TileTable& table) {
  table.most_panels[Rows] = most_panels(Rows);
  add_tiles<Rows, most_panels(Rows)>(table);
  if constexpr (Rows > 1) add_rows<Rows - 1>(table);
}

const TileTable& table() {
  static const TileTable made = [] {
    TileTable t;
    t.most_rows = most_rows();
    add_rows<most_rows()>(t);
    return t;
  }();
  return made;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::tiles
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace tiles {
TENON_EXPORT(table);
}
const TileTable& tile_table(Isa isa) {
  using namespace tiles;
  return TENON_DISPATCH(table, isa)();
}
}  // namespace tenon
#endif
