// Convolutions whose windows move by one: a band of rows is copied once, with the padding in it, and each tap reads the
// copy at an offset of its own. Positions are numbered through the rows of the copy, so some columns of the product lie
// beside the output and are left out when it is stored.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_shape.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/tiles.h"

namespace tenon {

namespace {

// Positions of a band, about: enough for each weight to be used often while the sums stay in a cache.
constexpr int64_t kBandPositions = 384;
// Numbers of a band's copy, and steps of k between two visits of the same sums.
constexpr int64_t kBandCopy = 12 * 1024, kBandDepth = 384;
// Panels of output channels of a chunk.
constexpr int64_t kBandPanels = 8;
// Vectors reach past the end of the copy, and of the sums when they are read, by less than this.
constexpr int64_t kBandSlack = 64;

struct BandLayout {
  int64_t columns = 0, rows = 0;            // of output
  int64_t row_length = 0, copied_rows = 0;  // of the copy of a slice
  int64_t slice = 0, band = 0;              // numbers of a slice, and of all slices of a channel
  int64_t positions = 0, stride = 0;        // of the product: columns, and numbers from row to row
  int64_t channels = 0;                     // of a block of the depth
};

// Nothing when windows reach so far that copies would hold little else.
std::optional<BandLayout> layout_of(const ConvShape& s) {
  BandLayout l;
  const int64_t reach = (s.window[2].kernel - 1) * s.window[2].dilation;
  const int64_t reach_down = (s.window[1].kernel - 1) * s.window[1].dilation;
  if (reach > kBandPositions || reach_down > kBandPositions) return std::nullopt;
  l.columns = ceil_div(s.out[2], ceil_div(s.out[2], kBandPositions));
  l.row_length = l.columns + reach;
  if (l.row_length * 4 > l.columns * 5) return std::nullopt;
  const int64_t rows = std::clamp(kBandPositions / l.row_length, int64_t{1}, s.out[1]);
  l.rows = ceil_div(s.out[1], ceil_div(s.out[1], rows));
  l.copied_rows = l.rows + reach_down;
  l.slice = l.copied_rows * l.row_length;
  if (s.window[0].kernel > kBandCopy / l.slice) return std::nullopt;
  l.band = l.slice * s.window[0].kernel;
  l.positions = (l.rows - 1) * l.row_length + l.columns;
  l.stride = ceil_div(l.positions, kPanelWidth) * kPanelWidth;
  l.channels =
      std::clamp(std::min(kBandCopy / l.band, kBandDepth / s.taps), int64_t{1}, std::max<int64_t>(1, s.channels));
  return l;
}

class BandConv {
 public:
  BandConv(const ConvShape& shape, const BandLayout& layout, const FusedActivation& activation, Isa isa)
      : shape_(shape), layout_(layout), activation_(activation), table_(tile_table(isa)), finish_(finish_function(isa)),
        panels_(ceil_div(shape.outputs, kPanelWidth)), parts_(ceil_div(panels_, kBandPanels)),
        panel_block_(ceil_div(panels_, parts_)), row_bands_(ceil_div(shape.out[1], layout.rows)),
        column_bands_(ceil_div(shape.out[2], layout.columns)) {
    for (int64_t c = 0; c < layout.channels; ++c)
      for (int64_t t = 0; t < shape.taps; ++t) {
        const auto tap = shape.tap(t);
        offsets_.push_back(static_cast<int32_t>(c * layout.band + tap[0] * layout.slice +
                                                tap[1] * shape.window[1].dilation * layout.row_length +
                                                tap[2] * shape.window[2].dilation));
      }
  }

  int64_t scratch_bytes() const {
    return (panel_block_ * kPanelWidth * layout_.stride + layout_.channels * layout_.band + 2 * kBandSlack) *
           int64_t{sizeof(float)};
  }
  int64_t chunks() const { return shape_.batch * shape_.groups * shape_.out[0] * row_bands_ * column_bands_ * parts_; }
  const FusedActivation& activation() const { return activation_; }

  void run(int64_t index, const ConvTensors& tensors, float* sums) const {
    const Chunk chunk = chunk_at(index);
    float* copy = sums + panel_block_ * kPanelWidth * layout_.stride + kBandSlack;
    for (int64_t channel = 0; channel < shape_.channels; channel += layout_.channels) {
      poll_cancelled();
      const int64_t count = std::min(layout_.channels, shape_.channels - channel);
      const float* x = tensors.x + (chunk.image_group * shape_.channels + channel) * shape_.in_plane();
      for (int64_t c = 0; c < count; ++c) copy_band(x + c * shape_.in_plane(), chunk, copy + c * layout_.band);
      multiply(tensors, chunk, channel, count, copy, sums);
    }
    store(tensors, chunk, sums);
  }

 private:
  // Part of the output: rows and columns of one slice of one image, and panels of its group.
  struct Chunk {
    int64_t image_group = 0, slice = 0, row = 0, column = 0, first_panel = 0, last_panel = 0;
  };

  Chunk chunk_at(int64_t index) const {
    Chunk chunk;
    chunk.first_panel = index % parts_ * panel_block_;
    chunk.last_panel = std::min(panels_, chunk.first_panel + panel_block_);
    index /= parts_;
    chunk.column = index % column_bands_ * layout_.columns;
    index /= column_bands_;
    chunk.row = index % row_bands_ * layout_.rows;
    index /= row_bands_;
    chunk.slice = index % shape_.out[0];
    chunk.image_group = index / shape_.out[0];
    return chunk;
  }

  // The rows of a channel that a band reads, with zeros where they are outside of it.
  void copy_band(const float* x, const Chunk& chunk, float* to) const {
    const WindowAxis &z = shape_.window[0], &y = shape_.window[1];
    const int64_t left = chunk.column - shape_.window[2].pad_begin;
    const int64_t begin = std::clamp<int64_t>(-left, 0, layout_.row_length);
    const int64_t end = std::clamp<int64_t>(shape_.in[2] - left, begin, layout_.row_length);
    for (int64_t k = 0; k < z.kernel; ++k) {
      const int64_t slice = chunk.slice + k * z.dilation - z.pad_begin;
      for (int64_t i = 0; i < layout_.copied_rows; ++i, to += layout_.row_length) {
        const int64_t row = chunk.row + i - y.pad_begin;
        if (slice < 0 || slice >= shape_.in[0] || row < 0 || row >= shape_.in[1]) {
          std::fill(to, to + layout_.row_length, 0.0f);
          continue;
        }
        std::fill(to, to + begin, 0.0f);
        const float* from = x + (slice * shape_.in[1] + row) * shape_.in[2] + left;
        std::copy(from + begin, from + end, to + begin);
        std::fill(to + end, to + layout_.row_length, 0.0f);
      }
    }
  }

  void multiply(const ConvTensors& tensors, const Chunk& chunk, int64_t channel, int64_t channels, const float* copy,
                float* sums) const {
    TileOperands o{.a_stride = kPanelWidth,
                   .b = copy,
                   .b_panel_stride = kPanelWidth,
                   .b_offsets = offsets_.data(),
                   .depth = channels * shape_.taps,
                   .c_stride = layout_.stride,
                   .accumulate = channel > 0};
    const int64_t group = chunk.image_group % shape_.groups;
    for (int64_t panel = chunk.first_panel; panel < chunk.last_panel; ++panel) {
      o.a = tensors.packed + ((group * panels_ + panel) * shape_.depth() + channel * shape_.taps) * kPanelWidth;
      o.c = sums + (panel - chunk.first_panel) * kPanelWidth * layout_.stride;
      multiply_tiles(table_, TileOrder::DepthMajorByOffsets, o,
                     std::min(kPanelWidth, shape_.outputs - panel * kPanelWidth), layout_.stride / kPanelWidth);
    }
  }

  void store(const ConvTensors& tensors, const Chunk& chunk, const float* sums) const {
    const int64_t rows = std::min(layout_.rows, shape_.out[1] - chunk.row);
    const int64_t columns = std::min(layout_.columns, shape_.out[2] - chunk.column);
    const int64_t first = chunk.first_panel * kPanelWidth;
    const int64_t last = std::min(shape_.outputs, chunk.last_panel * kPanelWidth);
    for (int64_t i = first; i < last; ++i) {
      const int64_t channel = chunk.image_group % shape_.groups * shape_.outputs + i;
      const int64_t plane = chunk.image_group * shape_.outputs + i;
      float* y = tensors.y + ((plane * shape_.out[0] + chunk.slice) * shape_.out[1] + chunk.row) * shape_.out[2];
      for (int64_t r = 0; r < rows; ++r)
        finish_(sums + (i - first) * layout_.stride + r * layout_.row_length, y + r * shape_.out[2] + chunk.column,
                columns, tensors.finish(channel, y + r * shape_.out[2] + chunk.column));
    }
  }

  const ConvShape shape_;
  const BandLayout layout_;
  const FusedActivation activation_;
  const TileTable& table_;
  const FinishFunction finish_;
  const int64_t panels_, parts_, panel_block_;  // of a group's output channels
  const int64_t row_bands_, column_bands_;
  std::vector<int32_t> offsets_;  // in the copy, by channel of the block and tap
};

}  // namespace

Result<KernelState> bind_conv_bands(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvParams>();
  if (p.layout != PackedLayout::Panels)
    return error(Code::Unsupported, "its weights are packed as {}", choice_name(p.layout));
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  TN_ASSIGN_OR_RETURN(const ConvShape shape, ConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  if (shape.taps == 1) return error(Code::Unsupported, "its window has one position");
  if (shape.channels == 0) return error(Code::Unsupported, "it has no input channels");
  for (const WindowAxis& axis : shape.window)
    if (axis.stride != 1) return error(Code::Unsupported, "its window moves by {}", axis.stride);
  const auto layout = shape.taps > kBandDepth ? std::nullopt : layout_of(shape);
  if (!layout) return error(Code::Unsupported, "its window is large for its output");
  auto conv = std::make_shared<BandConv>(shape, *layout, p.activation, request.isa);
  const int64_t scratch = conv->scratch_bytes(), chunks = conv->chunks();
  return KernelState{std::move(conv), scratch, chunks};
}

Status run_conv_bands(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<BandConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
