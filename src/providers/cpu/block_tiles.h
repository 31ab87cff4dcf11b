#pragma once

#include <cstdint>

#include "ops/fused_activation.h"
#include "providers/provider.h"

// The inner loop of convolutions whose results lie in blocks of 16 channels: a tile of output positions and panels of
// 16 output channels, whose sums stay in registers from the first step of k to the last and are finished there.
namespace tenon {

inline constexpr int kMostBlockRows = 14;
inline constexpr int kMostBlockPanels = 4;

struct BlockTile {
  // Inputs: step k of segment s at position i is a[a_offsets[s] + i * a_stride + k]. Steps of a segment are neighbours:
  // the channels of a block, or one. The last segments may have fewer steps than the others.
  const float* a = nullptr;
  int64_t a_stride = 0;
  const int64_t* a_offsets = nullptr;
  // Weights: column j of panel p there is b[b_offsets[s] + p * b_panel_stride + k * b_step + j].
  const float* b = nullptr;
  int64_t b_panel_stride = 0, b_step = 0;
  const int64_t* b_offsets = nullptr;
  int64_t segments = 0, steps = 0, last_segments = 0, last_steps = 0;
  // Results: column j of panel p at position i is c[p * c_panel_stride + i * 16 + j].
  float* c = nullptr;
  int64_t c_panel_stride = 0;
  bool accumulate = false;        // add to what c holds; else sums begin with the two below
  const float* bias = nullptr;    // 16 for each panel, or null
  const float* addend = nullptr;  // a tensor with the layout of c, or null
  // What becomes of the sums; null: nothing yet.
  const FusedActivation* activation = nullptr;
  // How far behind the weights of a step are those that will be read next, to be fetched into a cache meanwhile.
  int64_t next = 0;
  // Results are too many for near caches: the memory of those that follow these is fetched meanwhile.
  bool fetches_results = false;
};

using BlockTileFunction = void (*)(const BlockTile&);

// Tiles of one instruction set. The functions apply activations of applied_in_registers() and leave sums as they are
// for others.
struct BlockTileTable {
  int most_rows = 0;
  int most_panels[kMostBlockRows + 1] = {};                                       // by rows: as many as registers hold
  using Functions = BlockTileFunction[kMostBlockRows + 1][kMostBlockPanels + 1];  // by rows and panels
  Functions any = {};
  Functions neighbours = {};    // where a_stride is 16
  Functions single_steps = {};  // where segments have one step, and their weights follow each other b_step apart
};
const BlockTileTable& block_tile_table(Isa isa);

}  // namespace tenon
