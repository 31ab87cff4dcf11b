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

  int64_t panels() const;                         // of one gate
  int64_t padded() const;                         // units in whole panels
  bool multiplies_reset() const;                  // a step has a second product, of what the reset gate lets pass
  bool adds_reset() const;                        // R h of the hidden gate is scaled before it is added
  int64_t strip_floats(int64_t sequences) const;  // of working memory
  static int64_t blocks_of(int64_t panels);       // pieces of a product that threads share
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

// Runs the sequences [first, first + count) in a direction, with strip_floats of `memory`, aligned to 64 bytes. Threads
// of `team` share its products; null: this thread runs alone.
void run_strip(KernelContext* team, const RecurrentPlan& plan, const RecurrentTensors& tensors, int64_t direction,
               int64_t first, int64_t count, float* memory);

}  // namespace tenon
