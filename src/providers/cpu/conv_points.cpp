// Convolutions with few output positions: rows of the product are the positions, columns the output channels.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_shape.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/panel_product.h"
#include "providers/cpu/scratch.h"

namespace tenon {

namespace {

constexpr int64_t kMostPositions = 16;
constexpr int64_t kSums = kMostPositions * kPanelBlock * kPanelWidth;
static_assert(kSums + kMostPositions * kDepthBlock + kPanelBlock * kPanelWidth <= kScratchFloats);

// Where a tap of an output position lies in a channel of the input; -1 in the padding.
int64_t input_offset(const ConvShape& shape, int64_t position, const std::array<int64_t, 3>& tap) {
  const std::array<int64_t, 3> at{position / shape.out[2] / shape.out[1], position / shape.out[2] % shape.out[1],
                                  position % shape.out[2]};
  int64_t offset = 0;
  for (size_t i = 0; i < 3; ++i) {
    const WindowAxis& a = shape.window[i];
    const int64_t x = at[i] * a.stride + tap[i] * a.dilation - a.pad_begin;
    if (x < 0 || x >= shape.in[i]) return -1;
    offset = offset * shape.in[i] + x;
  }
  return offset;
}

// One dense row of k per position.
void gather_rows(const ConvShape& shape, const DepthBlock& block, const float* x, float* rows) {
  const int64_t plane = shape.in_plane();
  for (int64_t t = 0; t < block.taps; ++t) {
    const auto tap = shape.tap(block.first_tap + t);
    for (int64_t position = 0; position < shape.out_plane(); ++position) {
      const int64_t offset = input_offset(shape, position, tap);
      float* to = rows + position * block.size() + t;
      for (int64_t c = 0; c < block.channels; ++c) to[c * block.taps] = offset < 0 ? 0.0f : x[c * plane + offset];
    }
  }
}

}  // namespace

void convolve_points(KernelContext& c, const ConvJob& job) {
  const ConvShape& shape = job.shape;
  const int64_t positions = shape.out_plane(), panels = ceil_div(shape.outputs, kPanelWidth);
  const int64_t parts = ceil_div(panels, kPanelBlock);
  const DepthBlocks blocks(shape, kDepthBlock);
  const bool direct = shape.reads_everything_once();
  const TileTable& table = tile_table();
  const FinishFunction finish = finish_function();

  c.parallel_for(shape.batch * shape.groups * parts, [&](int64_t chunk) {
    const int64_t image_group = chunk / parts, group = image_group % shape.groups;
    const int64_t first = chunk % parts * kPanelBlock, count = std::min(kPanelBlock, panels - first);
    float *sums = scratch_floats(), *rows = sums + kSums, *results = rows + kMostPositions * kDepthBlock;
    if (blocks.count() == 0) std::fill(sums, sums + kSums, 0.0f);
    for (int64_t i = 0; i < blocks.count(); ++i) {
      const DepthBlock block = blocks[i];
      const float* x = job.x + (image_group * shape.channels + block.first_channel) * shape.in_plane();
      if (!direct) gather_rows(shape, block, x, rows);
      const int64_t panel = group * panels + first;
      multiply_tiles(table, TileOrder::RowMajor,
                     {.a = direct ? x + block.first_tap : rows,
                      .a_stride = block.size(),
                      .b = job.packed + (panel * shape.depth() + blocks.begin(block)) * kPanelWidth,
                      .b_panel_stride = shape.depth() * kPanelWidth,
                      .b_depth_stride = kPanelWidth,
                      .depth = block.size(),
                      .c = sums,
                      .c_stride = kPanelBlock * kPanelWidth,
                      .accumulate = i > 0},
                     positions, count);
    }
    const int64_t column = first * kPanelWidth, columns = std::min(count * kPanelWidth, shape.outputs - column);
    const Finish how{job.bias ? job.bias + group * shape.outputs + column : nullptr, 1, job.activation};
    float* y = job.y + (image_group * shape.outputs + column) * positions;
    for (int64_t position = 0; position < positions; ++position) {
      finish(sums + position * kPanelBlock * kPanelWidth, results, columns, how);
      for (int64_t i = 0; i < columns; ++i) y[i * positions + position] = results[i];
    }
  });
}

}  // namespace tenon
