#pragma once

#include "providers/cpu/recurrent_cells.h"
#include "providers/cpu/tiles.h"

namespace tenon {

// Sequences that go through a layer together, in one direction.
inline constexpr int64_t kStripSequences = 12;

// A recurrent layer as its kernel sees it: what is known when it is bound.
struct RecurrentPlan {
  RecurrentLayer layer;
  const TileTable* tiles = nullptr;
  CellFunctions functions[2];  // by direction
  const CellTable* cells[2] = {};
  int64_t gates = 0, hidden = 0, directions = 0;
  int64_t block_floats = 0;  // for the gates of as many steps as fit

  bool is_batch_first() const { return layer.common.layout == 1; }
  bool is_gru() const { return layer.cell == RecurrentCell::GRU; }
  // R h of the hidden gate is scaled by the reset gate before it is added.
  bool resets_product() const { return is_gru() && layer.linear_before_reset; }
  // A step has a second product, of what the reset gate lets pass of h.
  bool multiplies_reset() const { return is_gru() && !layer.linear_before_reset; }
  int64_t panels() const;  // of one gate
  int64_t padded() const;  // units in whole panels
  // Of working memory for a strip.
  int64_t strip_floats(int64_t sequences) const;
};

// Tensors of a run; absent ones are null.
struct RecurrentTensors {
  int64_t steps = 0, batch = 0, inputs = 0;
  const float *x = nullptr, *w = nullptr, *r = nullptr, *bias = nullptr, *initial_h = nullptr, *initial_c = nullptr;
  const float* peepholes = nullptr;
  const int32_t* lengths = nullptr;
  float *y = nullptr, *last_h = nullptr, *last_c = nullptr;

  int64_t length(int64_t sequence) const { return lengths ? lengths[sequence] : steps; }
};

// The sequences [first, first + count) in a direction.
struct RecurrentStrip {
  int64_t direction = 0, first = 0, count = 0;
};

}  // namespace tenon
