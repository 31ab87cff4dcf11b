// Convolutions whose results lie in blocks of 16 channels, and whose inputs do or are plain. Where windows reach beyond
// the input, a band of it is copied with the padding in it; then every tap of every position is at an offset of its
// own.
#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "providers/cpu/block_tiles.h"
#include "providers/cpu/conv_shape.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/pack.h"

namespace tenon {

namespace {

// Output columns of a band, and positions of one that has several rows: enough for each weight to be used often.
constexpr int64_t kMostBandColumns = 112, kBlockBandPositions = 168;
// Numbers of a band's copy, and steps of k between two visits of the same sums.
constexpr int64_t kMostCopy = 24 * 1024, kMostSteps = 512;
// A band of one row may need more than that, but not more than this.
constexpr double kMostRowCopy = 256 * 1024;
// Output channels are shared out as well when there are fewer bands than this, but not in parts that do less work.
constexpr int64_t kFewestBands = 8, kLeastWork = 1 << 20;

// Results that caches near a core may hold.
constexpr int64_t kNearResults = 1 << 18;

// Plain inputs with more channels than this are copied to blocks.
constexpr int64_t kFewChannels = 4;
// Positions of a band of theirs: what its windows share is copied once, and little beside the results.
constexpr int64_t kFewChannelsPositions = 448;

// How the input of a band lies in memory: as it is, or copied.
struct BandSource {
  int64_t row = 0, slice = 0, block = 0;  // numbers from one to the next
};

// Segments of the depth between two visits of the sums. Those of the last block may have fewer steps.
struct DepthPart {
  int64_t first_block = 0, blocks = 0;
  std::vector<int64_t> inputs, weights;         // offsets of segments
  int64_t whole = 0, rest = 0, rest_steps = 0;  // segments, and steps of the last ones
};

class BlockConv {
 public:
  BlockConv(const ConvShape& shape, const FusedActivation& activation, bool from_plain, Isa isa)
      : shape_(as_rows(shape)), activation_(activation), table_(block_tile_table(isa)), finish_(finish_function(isa)),
        to_block_(pack_kernels(isa).transpose), lanes_(from_plain && shape_.channels <= kFewChannels ? 1 : kPanelWidth),
        blocks_(ceil_div(shape_.channels, lanes_)), panels_(ceil_div(shape_.outputs, kPanelWidth)),
        transposes_(from_plain && lanes_ > 1), copies_(transposes_ || reaches_outside(shape_)),
        is_far_(shape_.batch * panels_ * shape_.out_plane() * kPanelWidth > kNearResults) {
    columns_ = ceil_div(shape_.out[2], ceil_div(shape_.out[2], kMostBandColumns));
    rows_ =
        std::clamp<int64_t>((lanes_ == 1 ? kFewChannelsPositions : kBlockBandPositions) / columns_, 1, shape_.out[1]);
    const int64_t row_copy = input_columns() * lanes_ * shape_.window[0].kernel;
    while (copies_ && rows_ > 1 && input_rows() * row_copy > kMostCopy) --rows_;
    rows_ = ceil_div(shape_.out[1], ceil_div(shape_.out[1], rows_));
    column_bands_ = ceil_div(shape_.out[2], columns_);
    row_bands_ = ceil_div(shape_.out[1], rows_);
    set_source();
    cut_depth();
    share_panels();
  }

  int64_t scratch_bytes() const { return (bias_floats() + copy_floats()) * int64_t{sizeof(float)}; }
  int64_t chunks() const { return shape_.batch * shape_.out[0] * row_bands_ * column_bands_ * parts_; }
  const FusedActivation& activation() const { return activation_; }

  void run(int64_t index, const ConvTensors& tensors, float* scratch) const {
    const Chunk chunk = chunk_at(index);
    float* copy = scratch + bias_floats();
    const float* bias = tensors.bias ? padded_bias(tensors.bias, chunk, scratch) : nullptr;
    for (const DepthPart& part : parts_of_depth_) {
      poll_cancelled();
      const int64_t planes = transposes_ ? chunk.image * shape_.channels + part.first_block * lanes_
                                         : (chunk.image * blocks_ + part.first_block) * lanes_;
      const float* x = tensors.x + planes * shape_.in_plane();
      if (copies_) copy_band(x, part, chunk, copy);
      const float* from = copies_ ? copy : x + first_input(chunk);
      multiply(tensors, chunk, part, from, bias);
    }
  }

 private:
  // Part of the output: rows and columns of one slice of one image, and panels.
  struct Chunk {
    int64_t image = 0, slice = 0, row = 0, rows = 0, column = 0, columns = 0, first_panel = 0, last_panel = 0;
  };

  // Neighbouring rows are one where windows have one position and move by one.
  static ConvShape as_rows(ConvShape s) {
    if (!s.is_pointwise()) return s;
    s.in = s.out = {1, 1, s.in_plane()};
    return s;
  }
  static bool reaches_outside(const ConvShape& s) {
    for (size_t i = 0; i < 3; ++i) {
      const WindowAxis& a = s.window[i];
      if (a.pad_begin > 0 || (s.out[i] - 1) * a.stride - a.pad_begin + a.extent() > s.in[i]) return true;
    }
    return false;
  }

  int64_t input_columns() const { return (columns_ - 1) * shape_.window[2].stride + shape_.window[2].extent(); }
  int64_t input_rows() const { return (rows_ - 1) * shape_.window[1].stride + shape_.window[1].extent(); }

  void set_source() {
    source_.row = (copies_ ? input_columns() : shape_.in[2]) * lanes_;
    source_.slice = source_.row * (copies_ ? input_rows() : shape_.in[1]);
    source_.block = copies_ ? source_.slice * shape_.window[0].kernel : shape_.in_plane() * lanes_;
  }

  // Offset of a tap; slices of a copy are those that taps need, one after the other.
  int64_t tap_offset(int64_t index) const {
    const auto tap = shape_.tap(index);
    return tap[0] * (copies_ ? 1 : shape_.window[0].dilation) * source_.slice +
           tap[1] * shape_.window[1].dilation * source_.row + tap[2] * shape_.window[2].dilation * lanes_;
  }

  void cut_depth() {
    const int64_t by_steps = kMostSteps / (shape_.taps * lanes_);
    const int64_t by_copy = copies_ ? kMostCopy / std::max<int64_t>(1, source_.block) : blocks_;
    const int64_t most = std::clamp<int64_t>(std::min(by_steps, by_copy), 1, std::max<int64_t>(1, blocks_));
    const int64_t count = std::max<int64_t>(1, ceil_div(blocks_, most));
    for (int64_t i = 0; i < count; ++i) {
      DepthPart part;
      part.first_block = blocks_ * i / count;
      part.blocks = blocks_ * (i + 1) / count - part.first_block;
      for (int64_t block = 0; block < part.blocks; ++block) {
        const int64_t first_channel = (part.first_block + block) * lanes_;
        const int64_t steps = std::min(lanes_, shape_.channels - first_channel);
        for (int64_t tap = 0; tap < shape_.taps; ++tap) {
          part.inputs.push_back(block * source_.block + tap_offset(tap));
          part.weights.push_back((first_channel * shape_.taps + tap) * kPanelWidth);
        }
        (steps == lanes_ ? part.whole : part.rest) += shape_.taps;
        if (steps < lanes_) part.rest_steps = steps;
      }
      parts_of_depth_.push_back(std::move(part));
    }
  }

  void share_panels() {
    const int64_t bands = shape_.batch * shape_.out[0] * row_bands_ * column_bands_;
    const int64_t work = rows_ * columns_ * shape_.depth() * kPanelWidth;  // of a panel
    const int64_t least = std::max<int64_t>(1, kLeastWork / std::max<int64_t>(1, work));
    const int64_t parts = std::clamp<int64_t>(ceil_div(kFewestBands, bands), 1, std::max<int64_t>(1, panels_ / least));
    // An even number, which tiles take two or four at a time.
    panel_block_ = std::min(panels_, ceil_div(ceil_div(panels_, parts), 2) * 2);
    parts_ = ceil_div(panels_, std::max<int64_t>(1, panel_block_));
  }

  int64_t bias_floats() const { return panel_block_ * kPanelWidth; }
  int64_t copy_floats() const {
    int64_t blocks = 0;
    for (const DepthPart& part : parts_of_depth_) blocks = std::max(blocks, part.blocks);
    return copies_ ? blocks * source_.block : 0;
  }

  Chunk chunk_at(int64_t index) const {
    Chunk chunk;
    chunk.first_panel = index % parts_ * panel_block_;
    chunk.last_panel = std::min(panels_, chunk.first_panel + panel_block_);
    index /= parts_;
    chunk.column = index % column_bands_ * columns_;
    chunk.columns = std::min(columns_, shape_.out[2] - chunk.column);
    index /= column_bands_;
    chunk.row = index % row_bands_ * rows_;
    chunk.rows = std::min(rows_, shape_.out[1] - chunk.row);
    index /= row_bands_;
    chunk.slice = index % shape_.out[0];
    chunk.image = index / shape_.out[0];
    return chunk;
  }

  const float* padded_bias(const float* bias, const Chunk& chunk, float* to) const {
    const int64_t first = chunk.first_panel * kPanelWidth, last = chunk.last_panel * kPanelWidth;
    float* end = std::copy(bias + first, bias + std::min(last, shape_.outputs), to);
    std::fill(end, to + last - first, 0.0f);
    return to;
  }

  // Where the inputs of the chunk's first position begin, when they are read where they lie.
  int64_t first_input(const Chunk& chunk) const {
    return chunk.slice * shape_.window[0].stride * source_.slice + chunk.row * shape_.window[1].stride * source_.row +
           chunk.column * shape_.window[2].stride * lanes_;
  }

  // The inputs of a band, with zeros where its windows lie outside.
  void copy_band(const float* x, const DepthPart& part, const Chunk& chunk, float* to) const {
    const WindowAxis &z = shape_.window[0], &y = shape_.window[1];
    const int64_t length = input_columns(), left = chunk.column * shape_.window[2].stride - shape_.window[2].pad_begin;
    const int64_t begin = std::clamp<int64_t>(-left, 0, length);
    const int64_t end = std::clamp<int64_t>(shape_.in[2] - left, begin, length);
    for (int64_t block = 0; block < part.blocks; ++block)
      for (int64_t k = 0; k < z.kernel; ++k) {
        const int64_t slice = chunk.slice * z.stride + k * z.dilation - z.pad_begin;
        for (int64_t i = 0; i < input_rows(); ++i, to += source_.row) {
          const int64_t row = chunk.row * y.stride + i - y.pad_begin;
          if (slice < 0 || slice >= shape_.in[0] || row < 0 || row >= shape_.in[1]) {
            std::fill_n(to, source_.row, 0.0f);
            continue;
          }
          const int64_t position = (slice * shape_.in[1] + row) * shape_.in[2] + left + begin;
          std::fill_n(to, begin * lanes_, 0.0f);
          copy_columns(x, part, block, position, end - begin, to + begin * lanes_);
          std::fill(to + end * lanes_, to + source_.row, 0.0f);
        }
      }
  }

  // Neighbouring positions of a block of the part.
  void copy_columns(const float* x, const DepthPart& part, int64_t block, int64_t position, int64_t count,
                    float* to) const {
    if (!transposes_) {
      std::copy_n(x + (block * shape_.in_plane() + position) * lanes_, count * lanes_, to);
      return;
    }
    const int64_t last = shape_.channels - (part.first_block + block) * lanes_ - 1;
    const float* rows[kPanelWidth];
    // Channels that are not there are read from one that is; no weight meets them.
    for (int64_t c = 0; c < kPanelWidth; ++c)
      rows[c] = x + (block * lanes_ + std::min(c, last)) * shape_.in_plane() + position;
    to_block_(rows, count, nullptr, false, to);
  }

  void multiply(const ConvTensors& tensors, const Chunk& chunk, const DepthPart& part, const float* from,
                const float* bias) const {
    const bool is_first = part.first_block == 0, is_last = part.first_block + part.blocks == blocks_;
    const int64_t out_plane = shape_.out_plane() * kPanelWidth, panel_size = shape_.depth() * kPanelWidth;
    const int64_t place = ((chunk.slice * shape_.out[1] + chunk.row) * shape_.out[2] + chunk.column) * kPanelWidth;
    const int64_t tiles = ceil_div(chunk.columns, int64_t{table_.most_rows});
    const int64_t most_panels = table_.most_panels[ceil_div(chunk.columns, tiles)];
    const int64_t groups = ceil_div(chunk.last_panel - chunk.first_panel, most_panels);
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t panels = chunk.last_panel - chunk.first_panel;
      const int64_t first = chunk.first_panel + panels * g / groups;
      const int64_t count = chunk.first_panel + panels * (g + 1) / groups - first;
      const int64_t offset = (chunk.image * panels_ + first) * out_plane + place;
      BlockTile tile{.a_stride = shape_.window[2].stride * lanes_,
                     .b = tensors.packed + first * panel_size,
                     .b_panel_stride = panel_size,
                     .b_step = lanes_ > 1 ? shape_.taps * kPanelWidth : kPanelWidth,
                     .c_panel_stride = out_plane,
                     .bias = bias ? bias + (first - chunk.first_panel) * kPanelWidth : nullptr,
                     .fetches_results = is_first && is_far_};
      // After the last panels those of the next part of the depth, or of the next chunk.
      const int64_t next = g + 1 < groups || is_last ? count * panel_size
                                                     : part.blocks * lanes_ * shape_.taps * kPanelWidth -
                                                           (first - chunk.first_panel) * panel_size;
      for (int64_t row = 0; row < chunk.rows; ++row) {
        const int64_t row_offset = offset + row * shape_.out[2] * kPanelWidth;
        const float* inputs = from + row * shape_.window[1].stride * source_.row;
        for (int64_t t = 0; t < tiles; ++t) {
          const int64_t begin = chunk.columns * t / tiles, end = chunk.columns * (t + 1) / tiles;
          tile.a = inputs + begin * tile.a_stride;
          tile.c = tensors.y + row_offset + begin * kPanelWidth;
          tile.addend = tensors.addend_at(tile.c);
          // The panels after these, one with each tile.
          const int64_t number = row * tiles + t;
          tile.next = number < count ? next + number * panel_size : 0;
          run_tile(tile, part, functions_of(tile.a_stride)[end - begin][count], is_first,
                   is_last ? &tensors.activation : nullptr);
        }
        if (is_last && !applied_in_registers(tensors.activation.kind))
          for (int64_t p = 0; p < count; ++p) {
            float* y = tensors.y + row_offset + p * out_plane;
            finish_(y, y, chunk.columns * kPanelWidth, {.bias = nullptr, .activation = tensors.activation});
          }
      }
    }
  }

  const BlockTileTable::Functions& functions_of(int64_t a_stride) const {
    if (lanes_ == 1) return table_.single_steps;
    return a_stride == kPanelWidth ? table_.neighbours : table_.any;
  }

  void run_tile(BlockTile& tile, const DepthPart& part, BlockTileFunction run, bool is_first,
                const FusedActivation* activation) const {
    tile.accumulate = !is_first;
    tile.a_offsets = part.inputs.data();
    tile.b_offsets = part.weights.data();
    tile.segments = part.whole;
    tile.steps = lanes_;
    tile.last_segments = part.rest;
    tile.last_steps = part.rest_steps;
    tile.activation = activation;
    run(tile);
  }

  const ConvShape shape_;
  const FusedActivation activation_;
  const BlockTileTable& table_;
  const FinishFunction finish_;
  bool (*const to_block_)(const float* const* rows, int64_t depth, const float* scale, bool streaming, float* to);
  const int64_t lanes_, blocks_, panels_;  // neighbouring channels of a position, blocks of so many, output panels
  const bool transposes_, copies_;
  const bool is_far_;  // its results are too many to be near when they are written
  int64_t columns_ = 1, rows_ = 1, column_bands_ = 1, row_bands_ = 1;
  int64_t panel_block_ = 1, parts_ = 1;
  BandSource source_;
  std::vector<DepthPart> parts_of_depth_;
};

// Numbers of a block that a band of one row copies, at most. Follows from the window alone: what this kernel takes does
// not depend on extents.
double most_copy(const ConvShape& s) {
  const WindowAxis& x = s.window[2];
  const auto columns = static_cast<double>(kMostBandColumns - 1) * static_cast<double>(x.stride);
  return static_cast<double>(s.window[0].kernel) * static_cast<double>(s.window[1].extent()) *
         (columns + static_cast<double>(x.extent())) * static_cast<double>(kPanelWidth);
}

}  // namespace

Result<KernelState> bind_conv_blocks(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvParams>();
  if (!is_blocked(request.output_layouts, 0)) return error(Code::Unsupported, "its result is not in blocks");
  if (p.layout != PackedLayout::Panels)
    return error(Code::Unsupported, "its weights are packed as {}", choice_name(p.layout));
  if (p.conv.group != 1) return error(Code::Unsupported, "it has {} groups", p.conv.group);
  TN_RETURN_IF_ERROR(check_addend(request));
  TN_ASSIGN_OR_RETURN(const ConvShape shape, ConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  if (most_copy(shape) > kMostRowCopy) return error(Code::Unsupported, "its window is too large for blocks");
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  auto conv = std::make_shared<BlockConv>(shape, p.activation, !is_blocked(request.input_layouts, 0), request.isa);
  const int64_t scratch = conv->scratch_bytes(), chunks = conv->chunks();
  return KernelState{std::move(conv), scratch, chunks};
}

Status run_conv_blocks(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<BlockConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
