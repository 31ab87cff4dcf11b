#pragma once

#include "providers/cpu/pool_shape.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/window_row.h"

namespace tenon {

// A row of results of a pooling.
struct PoolRow : WindowRow {
  // Of averages: the positions that count, by column, in this row of windows; null: the largest elements are wanted.
  const float* counts = nullptr;
};
using PoolRowFunction = void (*)(const PoolRow&);
PoolRowFunction pool_row_function(Isa isa);

// The sums or largest elements of 16 channels over all positions.
using BlockReduction = void (*)(const float* x, int64_t positions, bool largest, float* result);
BlockReduction block_reduction(Isa isa);

// Poolings of values in blocks.
Result<KernelState> bind_max_pool_blocks(const BindRequest& request);
Result<KernelState> bind_average_pool_blocks(const BindRequest& request);
Status run_pool_blocks(KernelContext& c);
// Whole planes of a value in blocks to a plain result.
Result<KernelState> bind_global_pool_blocks(const BindRequest& request);
Status run_global_average_pool_blocks(KernelContext& c);
Status run_global_max_pool_blocks(KernelContext& c);

}  // namespace tenon
