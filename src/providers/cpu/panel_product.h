#pragma once

#include "providers/cpu/tiles.h"

namespace tenon {

// Steps of k between two visits of the same sums: two panels of so many rows stay in a first-level cache.
inline constexpr int64_t kDepthBlock = 256;
// In products of packed panels, which are read one after the other: what a visit costs weighs more than a first-level
// cache that is too small.
inline constexpr int64_t kProductDepthBlock = 768;
// Blocks of k, a millisecond or a few, after which a chunk asks whether its run goes on: few rows of a product may have
// a depth of millions.
inline constexpr int64_t kBlocksBetweenPolls = 16;
// Output columns that one chunk of work makes: panels of 16.
inline constexpr int64_t kPanelBlock = 8;

// sums[row * kPanelBlock * 16 + column] = A * panels, over k blocks of A. `panels` points to the first panel of the
// block, at most kPanelBlock of them; A is dense rows of `depth`.
void multiply_panels(const TileTable& table, const float* a, int64_t rows, int64_t depth, const float* packed,
                     int64_t panels, float* sums);

}  // namespace tenon
