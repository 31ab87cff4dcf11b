#include "providers/cpu/block_tiles.h"
#include "providers/cpu/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/block_tiles_simd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "providers/cpu/activate_simd.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::block_tiles {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace simd = tenon::simd::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = 16 / kLanes;  // of a panel
constexpr int kRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 32 : 16;

// Sums, the weights of a step, and one input.
constexpr bool fits(int rows, int panels) {
  const int columns = panels * kVectors;
  return rows * columns + columns + 1 <= kRegisters;
}

constexpr int most_rows() {
  int rows = 1;
  while (rows < kMostBlockRows && fits(rows + 1, kRegisters == 32 && kVectors == 1 ? 2 : 1)) ++rows;
  return rows;
}

constexpr int most_panels(int rows) {
  int panels = 1;
  while (panels < kMostBlockPanels && fits(rows, panels + 1)) ++panels;
  return panels;
}

template <int Rows, int Columns>
HWY_INLINE void begin_sums(const BlockTile& t, V (&sums)[Rows][Columns]) {
  const D d;
#pragma GCC unroll 16
  for (int j = 0; j < Columns; ++j) {
    const int64_t panel = j / kVectors * t.c_panel_stride + j % kVectors * kLanes;
    const V start = t.bias && !t.accumulate ? hn::LoadU(d, t.bias + j * kLanes) : hn::Zero(d);
    const float* from = t.accumulate ? t.c : t.addend;
    if (from)
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) sums[i][j] = hn::Add(start, hn::LoadU(d, from + panel + i * 16));
    else
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) sums[i][j] = start;
  }
}

template <int Rows, int Columns>
HWY_INLINE void end_sums(const BlockTile& t, V (&sums)[Rows][Columns]) {
  const D d;
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) simd::activate(d, t.activation, sums[i]);
#pragma GCC unroll 16
  for (int j = 0; j < Columns; ++j)
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
      hn::StoreU(sums[i][j], d, t.c + j / kVectors * t.c_panel_stride + i * 16 + j % kVectors * kLanes);
}

// The results of as many positions as these, after them, and what is added to those.
template <int Rows, int Panels>
HWY_INLINE void fetch_results(const BlockTile& t) {
#pragma GCC unroll 16
  for (int p = 0; p < Panels; ++p)
#pragma GCC unroll 16
    for (int i = Rows; i < 2 * Rows; ++i) __builtin_prefetch(t.c + p * t.c_panel_stride + i * 16, 1);
  if (!t.addend) return;
#pragma GCC unroll 16
  for (int p = 0; p < Panels; ++p)
#pragma GCC unroll 16
    for (int i = Rows; i < 2 * Rows; ++i) __builtin_prefetch(t.addend + p * t.c_panel_stride + i * 16);
}

template <int Rows, int Columns>
HWY_INLINE void add_step(const float* HWY_RESTRICT a, int64_t a_stride, const float* HWY_RESTRICT b,
                         int64_t panel_stride, int64_t next, V (&sums)[Rows][Columns]) {
  const D d;
  // To the second-level cache: the first one is full of what is multiplied now.
  __builtin_prefetch(b + next, 0, 2);
  V right[Columns];
#pragma GCC unroll 16
  for (int j = 0; j < Columns; ++j) right[j] = hn::LoadU(d, b + j / kVectors * panel_stride + j % kVectors * kLanes);
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    const V left = hn::Set(d, a[i * a_stride]);
#pragma GCC unroll 16
    for (int j = 0; j < Columns; ++j) sums[i][j] = hn::MulAdd(left, right[j], sums[i][j]);
  }
}

// The tables of BlockTileTable.
enum class Segments : uint8_t { Any, Neighbours, SingleSteps };

template <int Rows, int Panels, Segments Kind>
HWY_ATTR TENON_HOT void run_tile(const BlockTile& t) {
  constexpr int kColumns = Panels * kVectors;
  V sums[Rows][kColumns];
  begin_sums(t, sums);
  if (t.fetches_results) fetch_results<Rows, Panels>(t);
  // A stride that is known here needs no registers for the places of positions.
  const int64_t a_stride = Kind == Segments::Neighbours ? 16 : t.a_stride, next = t.next;
  const int64_t panel_stride = t.b_panel_stride, step = t.b_step;
  if constexpr (Kind == Segments::SingleSteps) {
    const float* HWY_RESTRICT b = t.b + (t.segments > 0 ? t.b_offsets[0] : 0);
#pragma GCC unroll 1
    for (int64_t s = 0; s < t.segments; ++s, b += step)
      add_step<Rows, kColumns>(t.a + t.a_offsets[s], a_stride, b, panel_stride, next, sums);
  } else {
#pragma GCC unroll 1
    for (int64_t s = 0; s < t.segments + t.last_segments; ++s) {
      const float* HWY_RESTRICT a = t.a + t.a_offsets[s];
      const float* HWY_RESTRICT b = t.b + t.b_offsets[s];
      const float* const end = a + (s < t.segments ? t.steps : t.last_steps);
#pragma GCC unroll 1
      for (; a < end; ++a, b += step) add_step<Rows, kColumns>(a, a_stride, b, panel_stride, next, sums);
    }
  }
  end_sums(t, sums);
}

template <int Rows, int Panels>
void add_panels(BlockTileTable& table) {
  table.any[Rows][Panels] = &run_tile<Rows, Panels, Segments::Any>;
  table.neighbours[Rows][Panels] = &run_tile<Rows, Panels, Segments::Neighbours>;
  table.single_steps[Rows][Panels] = &run_tile<Rows, Panels, Segments::SingleSteps>;
  if constexpr (Panels > 1) add_panels<Rows, Panels - 1>(table);
}

template <int Rows>
void add_rows(BlockTileTable& table) {
  table.most_panels[Rows] = most_panels(Rows);
  add_panels<Rows, most_panels(Rows)>(table);
  if constexpr (Rows > 1) add_rows<Rows - 1>(table);
}

const BlockTileTable& table() {
  static const BlockTileTable made = [] {
    BlockTileTable t;
    t.most_rows = most_rows();
    add_rows<most_rows()>(t);
    return t;
  }();
  return made;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::block_tiles
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "providers/cpu/dispatch.h"

namespace tenon {
namespace block_tiles {
TENON_EXPORT(table);
}
const BlockTileTable& block_tile_table(Isa isa) {
  using namespace block_tiles;
  return TENON_DISPATCH(table, isa)();
}
}  // namespace tenon
#endif
