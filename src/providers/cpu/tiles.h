#pragma once

#include <cstdint>

#include "providers/provider.h"

// The inner loop of every dense product: a tile of C += A * B whose sums stay in registers. Sums add their products in
// the order of k, one rounding each where the machine has a fused multiply-add, so results do not depend on how work
// is cut into tiles.
namespace tenon {

inline constexpr int kMostTileRows = 14;
inline constexpr int kMostTilePanels = 8;

// How the operands are stored: element (row, k) of A at a[row * stride + k], or at a[k * stride + row]; in the last
// order, steps of B lie where offsets say.
enum class TileOrder : uint8_t { RowMajor, DepthMajor, DepthMajorByOffsets };
inline constexpr int kTileOrders = 3;

struct TileOperands {
  const float* a = nullptr;
  int64_t a_stride = 0;
  // Column j of panel p at step k: b[p * b_panel_stride + k * b_depth_stride + j], 16 columns a panel.
  const float* b = nullptr;
  int64_t b_panel_stride = 0, b_depth_stride = 0;
  // By offsets, in the place of k * b_depth_stride.
  const int32_t* b_offsets = nullptr;
  int64_t depth = 0;
  // Column j of panel p in a row: c[row * c_stride + p * 16 + j].
  float* c = nullptr;
  int64_t c_stride = 0;
  bool accumulate = false;  // add to what c holds
  // What will be multiplied next: as many steps of a panel as this product has, or null. It is fetched into a cache
  // meanwhile.
  const float* next = nullptr;
};

using TileFunction = void (*)(const TileOperands&);

// Tiles of one instruction set.
struct TileTable {
  int most_rows = 0;
  int most_panels[kMostTileRows + 1] = {};  // by rows: as many as registers hold
  TileFunction function[kTileOrders][kMostTileRows + 1][kMostTilePanels + 1] = {};  // by order, rows, panels
};

const TileTable& tile_table(Isa isa);

// A product of any number of rows and panels, cut into tiles. Reads and writes whole panels.
void multiply_tiles(const TileTable& table, TileOrder order, const TileOperands& operands, int64_t rows,
                    int64_t panels);

}  // namespace tenon
