#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// The vector loops of convolutions in a Winograd layout. Everything is in columns of sixteen neighbouring channels.
struct WinogradKernels {
  // `tiles` tiles beside each other, from rows of [column][16] that lie `row_stride` apart: point p of tile i goes to
  // to[p * point_stride + i * tile_stride].
  void (*to_points)(const float* from, int64_t row_stride, int64_t tiles, float* to, int64_t point_stride,
                    int64_t tile_stride);
  // The way back: outputs as rows of [column][16], with the bias of each of the sixteen channels added to them where
  // there is one.
  void (*to_outputs)(const float* from, int64_t point_stride, int64_t tile_stride, int64_t tiles, const float* bias,
                     float* to, int64_t row_stride);
  // Filters of `channels` channels, each nine taps of [16], that begin `from_stride` apart: point p of channel c goes
  // to to[p * point_stride + c * 16]. The same bits from every instruction set. `streaming` stores bypass the caches;
  // `to` must be aligned to 64 bytes.
  void (*pack)(const float* from, int64_t from_stride, int64_t channels, bool streaming, float* to,
               int64_t point_stride);
};

// For tiles of 2x2 or 4x4 outputs.
const WinogradKernels& winograd_kernels(Isa isa, int64_t outputs);

}  // namespace tenon
