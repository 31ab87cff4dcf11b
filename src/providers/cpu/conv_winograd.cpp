// Convolutions with 3x3 kernels whose weights lie in a Winograd layout: inputs go to the points of tiles, are
// multiplied there with the weights point by point, and the outputs follow from the products. Where kernels have slices
// of 3x3, the products of all slices are summed at the points, so that each input slice goes there once for all outputs
// that read it.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_shape.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/pack.h"
#include "providers/cpu/tiles.h"
#include "providers/cpu/to_rows.h"
#include "providers/cpu/winograd.h"

namespace tenon {

namespace {

// Tiles of a chunk, at most: enough rows to use each weight often, and few enough for their points to stay in a cache.
constexpr int64_t kMostTiles = 24, kMostTilesOfSlices = 12;
// Numbers at the points of a chunk that has several slices, about.
constexpr int64_t kPointNumbers = 128 * 1024;
// Output channels are shared out as well when there are fewer chunks of tiles than this.
constexpr int64_t kFewestChunks = 2;
// Rows of points are this much longer than their channels, so that neighbours do not meet in one place of a cache.
constexpr int64_t kGap = 16;
constexpr int64_t kPointDepth = 512;
// The last row of results may be read up to here.
constexpr int64_t kRowReadAhead = 16;

// Tiles [first, last) of an image, row by row, in some slices, and panels of output channels.
struct TileChunk {
  int64_t image = 0, first_slice = 0, slices = 0, first = 0, last = 0, first_panel = 0, last_panel = 0;
  int64_t tiles() const { return last - first; }
  int64_t panels() const { return last_panel - first_panel; }
};

// Tiles beside each other in one row of tiles.
struct TileRun {
  int64_t row = 0, column = 0, count = 0;  // of tiles
};

// The results of a run: sixteen channels of a slice of an image.
struct OutputPlace {
  int64_t image = 0, panel = 0, slice = 0;
  TileRun run;
};

// Which of input and output lie in blocks of channels.
struct Blocked {
  bool input = false, output = false;
};

class WinogradConv {
 public:
  WinogradConv(const ConvShape& shape, const FusedActivation& activation, PackedLayout layout, Blocked blocked, Isa isa)
      : shape_(shape), activation_(activation), blocked_(blocked), edge_(winograd_outputs(layout)),
        points_(winograd_points(layout)), kernels_(winograd_kernels(isa, edge_)), rows_(to_rows_function(isa)),
        columns_(pack_kernels(isa).transpose), table_(tile_table(isa)), finish_(finish_function(isa)),
        panels_(ceil_div(shape.outputs, kPanelWidth)), blocks_(ceil_div(shape.channels, kPanelWidth)),
        tile_columns_(ceil_div(shape.out[2], edge_)), tiles_(ceil_div(shape.out[1], edge_) * tile_columns_),
        kernel_slices_(shape.window[0].kernel),
        tile_parts_(tile_parts(tiles_, kernel_slices_ > 1 ? kMostTilesOfSlices : kMostTiles)),
        most_tiles_(ceil_div(tiles_, tile_parts_)) {
    share_slices();
    const int64_t parts = std::min(panels_, ceil_div(kFewestChunks, shape.batch * slice_parts_ * tile_parts_));
    panel_block_ = ceil_div(panels_, parts);
    panel_parts_ = ceil_div(panels_, panel_block_);
    in_stride_ = (most_slices_ + kernel_slices_ - 1) * shape.channels + kGap;
    if (kernel_slices_ == 1) in_stride_ = blocks_ * kPanelWidth + kGap;
    out_stride_ = most_slices_ * panel_block_ * kPanelWidth + kGap;
    const int64_t run = std::min(most_tiles_, tile_columns_);
    in_columns_ = run * edge_ + 2;
    out_columns_ = run * edge_;
  }

  int64_t scratch_bytes() const {
    const int64_t staged = std::max(in_columns_ * (edge_ + 2), 2 * out_columns_ * edge_) * kPanelWidth;
    return (points_ * most_tiles_ * (in_stride_ + out_stride_) + staged + kRowReadAhead) * int64_t{sizeof(float)};
  }
  int64_t chunks() const { return shape_.batch * slice_parts_ * tile_parts_ * panel_parts_; }
  const FusedActivation& activation() const { return activation_; }

  void run(int64_t index, const ConvTensors& tensors, float* scratch) const {
    const TileChunk chunk = chunk_at(index);
    float* in = scratch;
    float* out = in + points_ * most_tiles_ * in_stride_;
    float* staged = out + points_ * most_tiles_ * out_stride_;
    for_each_run(chunk, [&](const TileRun& run, int64_t tile) { load(tensors, chunk, run, tile, staged, in); });
    multiply(tensors, chunk, in, out);
    for_each_run(chunk, [&](const TileRun& run, int64_t tile) { store(tensors, chunk, run, tile, staged, out); });
  }

 private:
  // An even number, which two threads share; where there are many, it does not matter.
  static int64_t tile_parts(int64_t tiles, int64_t most) {
    const int64_t parts = ceil_div(tiles, most);
    return parts > 1 ? parts + parts % 2 : parts;
  }

  // Neighbouring slices share inputs, so a chunk has several where caches hold their points.
  void share_slices() {
    if (kernel_slices_ > 1) {
      const int64_t numbers = kPointNumbers / points_ / most_tiles_ - 2 * kGap - (kernel_slices_ - 1) * shape_.channels;
      most_slices_ = std::clamp<int64_t>(numbers / (shape_.channels + shape_.outputs), 1, shape_.out[0]);
    }
    slice_parts_ = ceil_div(shape_.out[0], most_slices_);
    most_slices_ = ceil_div(shape_.out[0], slice_parts_);
  }

  TileChunk chunk_at(int64_t index) const {
    TileChunk chunk;
    chunk.first_panel = index % panel_parts_ * panel_block_;
    chunk.last_panel = std::min(panels_, chunk.first_panel + panel_block_);
    index /= panel_parts_;
    const int64_t tile_part = index % tile_parts_;
    chunk.first = tiles_ * tile_part / tile_parts_;
    chunk.last = tiles_ * (tile_part + 1) / tile_parts_;
    index /= tile_parts_;
    const int64_t slice_part = index % slice_parts_;
    chunk.first_slice = shape_.out[0] * slice_part / slice_parts_;
    chunk.slices = shape_.out[0] * (slice_part + 1) / slice_parts_ - chunk.first_slice;
    chunk.image = index / slice_parts_;
    return chunk;
  }

  // Calls f(run, number of its first tile in the chunk).
  template <class F>
  void for_each_run(const TileChunk& chunk, const F& f) const {
    for (int64_t tile = chunk.first; tile < chunk.last;) {
      TileRun run{tile / tile_columns_, tile % tile_columns_, 0};
      run.count = std::min(tile_columns_ - run.column, chunk.last - tile);
      f(run, tile - chunk.first);
      tile += run.count;
    }
  }

  // The inputs of a run of tiles, as points. The lanes of channels that are not there go where the next slice will be.
  void load(const ConvTensors& tensors, const TileChunk& chunk, const TileRun& run, int64_t tile, float* staged,
            float* in) const {
    for (int64_t i = 0; i < chunk.slices + kernel_slices_ - 1; ++i)
      load_slice(tensors, chunk.image, chunk.first_slice + i - shape_.window[0].pad_begin, run, staged,
                 in + tile * in_stride_ + i * shape_.channels);
  }

  void load_slice(const ConvTensors& tensors, int64_t image, int64_t slice, const TileRun& run, float* staged,
                  float* points) const {
    const int64_t columns = run.count * edge_ + 2, row_stride = columns * kPanelWidth;
    const int64_t top = run.row * edge_ - shape_.window[1].pad_begin;
    const int64_t left = run.column * edge_ - shape_.window[2].pad_begin;
    const bool has_slice = slice >= 0 && slice < shape_.in[0];
    // Columns of the staged rows that lie in the image.
    const int64_t begin = std::clamp<int64_t>(-left, 0, columns), end = std::clamp(shape_.in[2] - left, begin, columns);
    const bool is_inside = has_slice && begin == 0 && end == columns && top >= 0 && top + edge_ + 2 <= shape_.in[1];
    for (int64_t block = 0; block < blocks_; ++block, points += kPanelWidth) {
      if (blocked_.input && is_inside) {
        const float* x = tensors.x + blocked_row(image, block, slice, top) + left * kPanelWidth;
        kernels_.to_points(x, shape_.in[2] * kPanelWidth, run.count, points, most_tiles_ * in_stride_, in_stride_);
        continue;
      }
      for (int64_t i = 0; i < edge_ + 2; ++i) {
        float* row = staged + i * row_stride;
        if (!has_slice || top + i < 0 || top + i >= shape_.in[1] || begin == end) {
          std::fill(row, row + row_stride, 0.0f);
          continue;
        }
        std::fill(row, row + begin * kPanelWidth, 0.0f);
        const int64_t column = left + begin;
        float* to = row + begin * kPanelWidth;
        if (blocked_.input)
          std::copy_n(tensors.x + blocked_row(image, block, slice, top + i) + column * kPanelWidth,
                      (end - begin) * kPanelWidth, to);
        else
          stage(tensors, image, block, (slice * shape_.in[1] + top + i) * shape_.in[2] + column, end - begin, to);
        std::fill(row + end * kPanelWidth, row + row_stride, 0.0f);
      }
      kernels_.to_points(staged, row_stride, run.count, points, most_tiles_ * in_stride_, in_stride_);
    }
  }

  // Where a row of a block of the input begins.
  int64_t blocked_row(int64_t image, int64_t block, int64_t slice, int64_t row) const {
    return (((image * blocks_ + block) * shape_.in[0] + slice) * shape_.in[1] + row) * shape_.in[2] * kPanelWidth;
  }

  // Neighbouring positions of a plain input, sixteen channels side by side.
  void stage(const ConvTensors& tensors, int64_t image, int64_t block, int64_t position, int64_t count,
             float* to) const {
    const int64_t channel = block * kPanelWidth, channels = std::min(kPanelWidth, shape_.channels - channel);
    const float* x = tensors.x + (image * shape_.channels + channel) * shape_.in_plane() + position;
    const float* from[kPanelWidth];
    // Channels that are not there are read from one that is; nobody reads their points.
    for (int64_t c = 0; c < kPanelWidth; ++c) from[c] = x + std::min(c, channels - 1) * shape_.in_plane();
    columns_(from, count, nullptr, false, to);
  }

  void multiply(const ConvTensors& tensors, const TileChunk& chunk, const float* in, float* out) const {
    const int64_t depth = kernel_slices_ * shape_.channels, panel_size = depth * kPanelWidth;
    if (depth == 0) std::fill(out, out + points_ * most_tiles_ * out_stride_, 0.0f);
    // Each tile of rows fetches a panel of the next weights, so that those of as many panels are there in time.
    const int64_t most_panels = ceil_div(chunk.tiles(), int64_t{table_.most_rows});
    for (int64_t point = 0; point < points_; ++point) {
      poll_cancelled();
      for (int64_t k = 0; k < depth; k += kPointDepth)
        for (int64_t first = 0; first < chunk.panels(); first += most_panels) {
          const int64_t panels = std::min(most_panels, chunk.panels() - first);
          const float* weights =
              tensors.packed + (point * panels_ + chunk.first_panel + first) * panel_size + k * kPanelWidth;
          TileOperands operands{.a_stride = in_stride_,
                                .b = weights,
                                .b_panel_stride = panel_size,
                                .b_depth_stride = kPanelWidth,
                                .depth = std::min(kPointDepth, depth - k),
                                .c_stride = out_stride_,
                                .accumulate = k > 0};
          // The panels after these; after the last ones, those of the next point.
          if (first + panels < chunk.panels())
            operands.next = weights + panels * panel_size;
          else if (point + 1 < points_ && depth <= kPointDepth)
            operands.next = weights + (panels_ - first) * panel_size;
          for (int64_t slice = 0; slice < chunk.slices; ++slice) {
            operands.a = in + point * most_tiles_ * in_stride_ + slice * shape_.channels + k;
            operands.c = out + point * most_tiles_ * out_stride_ + (slice * panel_block_ + first) * kPanelWidth;
            multiply_tiles(table_, TileOrder::RowMajor, operands, chunk.tiles(), panels);
          }
        }
    }
  }

  void store(const ConvTensors& tensors, const TileChunk& chunk, const TileRun& run, int64_t tile, float* staged,
             const float* out) const {
    for (int64_t panel = chunk.first_panel; panel < chunk.last_panel; ++panel)
      for (int64_t i = 0; i < chunk.slices; ++i) {
        const float* points = out + tile * out_stride_ + (i * panel_block_ + panel - chunk.first_panel) * kPanelWidth;
        const OutputPlace place{chunk.image, panel, chunk.first_slice + i, run};
        blocked_.output ? store_blocks(tensors, place, points, staged) : store_plain(tensors, place, points, staged);
      }
  }

  void store_plain(const ConvTensors& tensors, const OutputPlace& place, const float* points, float* staged) const {
    const TileRun& run = place.run;
    const int64_t columns = run.count * edge_, rows = std::min(edge_, shape_.out[1] - run.row * edge_);
    const int64_t width = std::min(columns, shape_.out[2] - run.column * edge_), channel = place.panel * kPanelWidth;
    float* plain = staged + edge_ * columns * kPanelWidth;
    kernels_.to_outputs(points, most_tiles_ * out_stride_, out_stride_, run.count, nullptr, staged,
                        columns * kPanelWidth);
    const int64_t to = (place.slice * shape_.out[1] + run.row * edge_) * shape_.out[2] + run.column * edge_;
    for (int64_t i = 0; i < rows; ++i) {
      rows_(staged + i * columns * kPanelWidth, kPanelWidth, columns, plain + i * columns, edge_ * columns);
      for (int64_t c = 0; c < std::min(kPanelWidth, shape_.outputs - channel); ++c) {
        float* y = tensors.y + (place.image * shape_.outputs + channel + c) * shape_.out_plane() + to;
        finish_(plain + (c * edge_ + i) * columns, y + i * shape_.out[2], width,
                tensors.finish(channel + c, y + i * shape_.out[2]));
      }
    }
  }

  // Straight to where the results lie, unless tiles reach beyond them.
  void store_blocks(const ConvTensors& tensors, const OutputPlace& place, const float* points, float* staged) const {
    const TileRun& run = place.run;
    const int64_t columns = run.count * edge_, rows = std::min(edge_, shape_.out[1] - run.row * edge_);
    const int64_t width = std::min(columns, shape_.out[2] - run.column * edge_);
    float bias[kPanelWidth] = {};
    const int64_t channel = place.panel * kPanelWidth;
    if (tensors.bias) std::copy_n(tensors.bias + channel, std::min(kPanelWidth, shape_.outputs - channel), bias);
    const int64_t y_stride = shape_.out[2] * kPanelWidth;
    const int64_t plane = (place.image * panels_ + place.panel) * shape_.out[0] + place.slice;
    float* y = tensors.y + (plane * shape_.out[1] + run.row * edge_) * y_stride + run.column * edge_ * kPanelWidth;
    const bool fits = rows == edge_ && width == columns;
    const int64_t stride = fits ? y_stride : columns * kPanelWidth;
    float* to = fits ? y : staged;
    kernels_.to_outputs(points, most_tiles_ * out_stride_, out_stride_, run.count, tensors.bias ? bias : nullptr, to,
                        stride);
    if (fits && tensors.activation.kind == ActivationKind::None && !tensors.addend) return;
    for (int64_t i = 0; i < rows; ++i)
      finish_(to + i * stride, y + i * y_stride, width * kPanelWidth,
              {.activation = tensors.activation, .addend = tensors.addend_at(y + i * y_stride)});
  }

  const ConvShape shape_;
  const FusedActivation activation_;
  const Blocked blocked_;
  const int64_t edge_, points_;
  const WinogradKernels& kernels_;
  const ToRowsFunction rows_;
  bool (*const columns_)(const float* const* rows, int64_t depth, const float* scale, bool streaming, float* to);
  const TileTable& table_;
  const FinishFunction finish_;
  const int64_t panels_, blocks_;  // of output and of input channels
  const int64_t tile_columns_, tiles_, kernel_slices_, tile_parts_, most_tiles_;
  int64_t most_slices_ = 1, slice_parts_ = 1;
  int64_t panel_block_ = 1, panel_parts_ = 1;
  int64_t in_stride_ = 0, out_stride_ = 0;    // from tile to tile at one point
  int64_t in_columns_ = 0, out_columns_ = 0;  // that are staged, at most
};

}  // namespace

Result<KernelState> bind_conv_winograd(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvParams>();
  if (winograd_outputs(p.layout) == 0)
    return error(Code::Unsupported, "its weights are packed as {}", choice_name(p.layout));
  TN_RETURN_IF_ERROR(check_addend(request));
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  TN_ASSIGN_OR_RETURN(const ConvShape shape, ConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  const Blocked blocked{is_blocked(request.input_layouts, 0), is_blocked(request.output_layouts, 0)};
  auto conv = std::make_shared<WinogradConv>(shape, p.activation, p.layout, blocked, request.isa);
  const int64_t scratch = conv->scratch_bytes(), chunks = conv->chunks();
  return KernelState{std::move(conv), scratch, chunks};
}

Status run_conv_winograd(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<WinogradConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
