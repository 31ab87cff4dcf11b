// Transposed convolutions of values in blocks of 16 channels, phase by phase. Every phase is a convolution of the input
// with a few taps, whose sums stay in registers. Where taps reach beyond the input, a band of it is copied with zeros
// around it.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/block_tiles.h"
#include "providers/cpu/transposed_conv_shape.h"

namespace tenon {

namespace {

// Positions of a band along its rows, and of all its rows: enough for each weight to be used often.
constexpr int64_t kMostPhaseColumns = 112, kPhaseBandPositions = 168;
// Numbers of a band's copy where it has several rows, and where it has one.
constexpr int64_t kPhaseCopy = 64 * 1024, kMostPhaseRowCopy = 512 * 1024;
// Output channels are shared out as well when there are fewer bands than this, but not in parts that do less work.
constexpr int64_t kFewestPhaseBands = 8, kLeastPhaseWork = 1 << 20;

// How far taps reach from a position, on both sides of each axis.
struct Reach {
  std::array<int64_t, 3> before{}, after{};
  int64_t of(size_t axis) const { return before[axis] + after[axis]; }
};

// A phase and where its inputs and weights are.
struct BlockPhase {
  std::array<int64_t, 3> phase{}, positions{};
  std::vector<int64_t> inputs, weights;  // offsets of segments, those of the last block at the end
};

class BlockTransposedConv {
 public:
  BlockTransposedConv(const TransposedConvShape& shape, const std::vector<PhaseGroup>& phases,
                      const FusedActivation& activation, Isa isa)
      : shape_(shape), activation_(activation), table_(block_tile_table(isa)), finish_(finish_function(isa)),
        blocks_(ceil_div(shape.channels, kPanelWidth)), panels_(ceil_div(shape.outputs, kPanelWidth)) {
    for (size_t i = 0; i < 3; ++i) positions_[i] = shape.positions(i, 0);
    find_reach(phases);
    cut_bands();
    for (const PhaseGroup& phase : phases) phases_.push_back(block_phase(phase));
  }

  int64_t scratch_bytes() const {
    return (panel_block_ * kPanelWidth + kTileSums + copy_floats()) * int64_t{sizeof(float)};
  }
  int64_t chunks() const { return shape_.batch * positions_[0] * row_bands_ * column_bands_ * parts_; }
  const FusedActivation& activation() const { return activation_; }

  void run(int64_t index, const ConvTensors& tensors, float* scratch) const {
    const Chunk chunk = chunk_at(index);
    float *sums = scratch + panel_block_ * kPanelWidth, *copy = sums + kTileSums;
    const float* bias = tensors.bias ? padded_bias(tensors.bias, chunk, scratch) : nullptr;
    const float* x = tensors.x + chunk.image * blocks_ * shape_.in_plane() * kPanelWidth;
    const float* from =
        copies_ ? copy + reach_.before[0] * slice_ + reach_.before[1] * row_ + reach_.before[2] * kPanelWidth
                : x + chunk.begin[0] * slice_ + chunk.begin[1] * row_ + chunk.begin[2] * kPanelWidth;
    if (copies_) copy_band(x, chunk, copy);
    for (const BlockPhase& phase : phases_) {
      poll_cancelled();
      multiply(tensors, chunk, phase, from, bias, sums);
    }
  }

 private:
  static constexpr int64_t kTileSums = int64_t{kMostBlockRows} * kMostBlockPanels * kPanelWidth;

  // Positions [begin, end) of an image, of one slice, and panels.
  struct Chunk {
    int64_t image = 0, first_panel = 0, last_panel = 0;
    std::array<int64_t, 3> begin{}, end{};
  };

  void find_reach(const std::vector<PhaseGroup>& phases) {
    for (const PhaseGroup& phase : phases)
      for (const PhaseGroup::Source& source : phase.sources)
        for (size_t i = 0; i < 3; ++i) {
          reach_.before[i] = std::max(reach_.before[i], -source.shift[i]);
          reach_.after[i] = std::max(reach_.after[i], source.shift[i]);
          copies_ |= source.shift[i] < 0 || phase.positions[i] + source.shift[i] > shape_.in[i];
        }
  }

  void cut_bands() {
    columns_ = ceil_div(positions_[2], ceil_div(positions_[2], kMostPhaseColumns));
    rows_ = std::clamp<int64_t>(kPhaseBandPositions / columns_, 1, positions_[1]);
    const int64_t row_copy = (columns_ + reach_.of(2)) * kPanelWidth * blocks_ * (1 + reach_.of(0));
    while (copies_ && rows_ > 1 && (rows_ + reach_.of(1)) * row_copy > kPhaseCopy) --rows_;
    row_bands_ = ceil_div(positions_[1], rows_);
    rows_ = ceil_div(positions_[1], row_bands_);
    column_bands_ = ceil_div(positions_[2], columns_);
    row_ = (copies_ ? columns_ + reach_.of(2) : shape_.in[2]) * kPanelWidth;
    slice_ = row_ * (copies_ ? rows_ + reach_.of(1) : shape_.in[1]);
    block_ = copies_ ? slice_ * (1 + reach_.of(0)) : shape_.in_plane() * kPanelWidth;
    const int64_t bands = shape_.batch * positions_[0] * row_bands_ * column_bands_;
    const int64_t work = std::max<int64_t>(1, rows_ * columns_ * shape_.depth() * kPanelWidth);  // of a panel
    const int64_t most_parts = std::max<int64_t>(1, panels_ / std::max<int64_t>(1, kLeastPhaseWork / work));
    const int64_t parts = std::clamp<int64_t>(ceil_div(kFewestPhaseBands, bands), 1, most_parts);
    // An even number, which tiles take two or four at a time.
    panel_block_ = std::min(panels_, ceil_div(ceil_div(panels_, parts), 2) * 2);
    parts_ = ceil_div(panels_, panel_block_);
  }

  int64_t copy_floats() const { return copies_ ? blocks_ * block_ : 0; }

  BlockPhase block_phase(const PhaseGroup& group) const {
    BlockPhase phase{.phase = group.phase, .positions = group.positions};
    for (int64_t block = 0; block < blocks_; ++block)
      for (const PhaseGroup::Product& product : group.products) {
        const auto& shift = group.sources[product.source].shift;
        phase.inputs.push_back(block * block_ + shift[0] * slice_ + shift[1] * row_ + shift[2] * kPanelWidth);
        phase.weights.push_back((block * kPanelWidth * shape_.taps + product.tap) * kPanelWidth);
      }
    return phase;
  }

  Chunk chunk_at(int64_t index) const {
    Chunk chunk;
    chunk.first_panel = index % parts_ * panel_block_;
    chunk.last_panel = std::min(panels_, chunk.first_panel + panel_block_);
    index /= parts_;
    const int64_t column = index % column_bands_ * columns_, row = index / column_bands_ % row_bands_ * rows_;
    index /= column_bands_ * row_bands_;
    const int64_t slice = index % positions_[0];
    chunk.begin = {slice, row, column};
    chunk.end = {slice + 1, std::min(positions_[1], row + rows_), std::min(positions_[2], column + columns_)};
    chunk.image = index / positions_[0];
    return chunk;
  }

  const float* padded_bias(const float* bias, const Chunk& chunk, float* to) const {
    const int64_t first = chunk.first_panel * kPanelWidth, last = chunk.last_panel * kPanelWidth;
    float* end = std::copy(bias + first, bias + std::min(last, shape_.outputs), to);
    std::fill(end, to + last - first, 0.0f);
    return to;
  }

  // All inputs that the chunk's positions read, with zeros where they are outside.
  void copy_band(const float* x, const Chunk& chunk, float* to) const {
    const int64_t columns = row_ / kPanelWidth, left = chunk.begin[2] - reach_.before[2];
    const int64_t begin = std::clamp<int64_t>(-left, 0, columns);
    const int64_t end = std::clamp(shape_.in[2] - left, begin, columns);
    const int64_t rows = slice_ / row_, slices = block_ / slice_;
    for (int64_t block = 0; block < blocks_; ++block)
      for (int64_t k = 0; k < slices; ++k) {
        const int64_t slice = chunk.begin[0] - reach_.before[0] + k;
        for (int64_t i = 0; i < rows; ++i, to += row_) {
          const int64_t row = chunk.begin[1] - reach_.before[1] + i;
          if (slice < 0 || slice >= shape_.in[0] || row < 0 || row >= shape_.in[1] || begin == end) {
            std::fill_n(to, row_, 0.0f);
            continue;
          }
          const int64_t position = ((block * shape_.in[0] + slice) * shape_.in[1] + row) * shape_.in[2] + left;
          std::fill_n(to, begin * kPanelWidth, 0.0f);
          std::copy(x + (position + begin) * kPanelWidth, x + (position + end) * kPanelWidth, to + begin * kPanelWidth);
          std::fill(to + end * kPanelWidth, to + row_, 0.0f);
        }
      }
  }

  void multiply(const ConvTensors& tensors, const Chunk& chunk, const BlockPhase& phase, const float* from,
                const float* bias, float* sums) const {
    if (chunk.begin[0] >= phase.positions[0]) return;
    const int64_t rows = std::min(chunk.end[1], phase.positions[1]) - chunk.begin[1];
    const int64_t columns = std::min(chunk.end[2], phase.positions[2]) - chunk.begin[2];
    if (columns <= 0) return;
    const int64_t tiles = ceil_div(columns, int64_t{table_.most_rows});
    const int64_t most_panels = table_.most_panels[ceil_div(columns, tiles)];
    const int64_t panel_size = shape_.depth() * kPanelWidth;
    for (int64_t panel = chunk.first_panel; panel < chunk.last_panel; panel += most_panels) {
      const int64_t panels = std::min(most_panels, chunk.last_panel - panel);
      BlockTile tile{.a_stride = kPanelWidth,
                     .b = tensors.packed + panel * panel_size,
                     .b_panel_stride = panel_size,
                     .b_step = shape_.taps * kPanelWidth,
                     .c = sums,
                     .bias = bias ? bias + (panel - chunk.first_panel) * kPanelWidth : nullptr};
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t t = 0; t < tiles; ++t) {
          const int64_t begin = columns * t / tiles, count = columns * (t + 1) / tiles - begin;
          tile.a = from + row * row_ + begin * kPanelWidth;
          tile.c_panel_stride = count * kPanelWidth;
          run_tile(tile, phase, table_.neighbours[count][panels], tensors.activation);
          if (!applied_in_registers(tensors.activation.kind))
            finish_(sums, sums, panels * count * kPanelWidth, {.activation = tensors.activation});
          store(sums, {chunk.begin[0], chunk.begin[1] + row, chunk.begin[2] + begin}, phase, count, panels,
                tensors.y + (chunk.image * panels_ + panel) * shape_.out_plane() * kPanelWidth);
        }
    }
  }

  void run_tile(BlockTile& tile, const BlockPhase& phase, BlockTileFunction run,
                const FusedActivation& activation) const {
    const auto segments = static_cast<int64_t>(phase.inputs.size());
    // Those of a last block with fewer channels.
    const int64_t rest_steps = shape_.channels % kPanelWidth, rest = rest_steps > 0 ? segments / blocks_ : 0;
    tile.a_offsets = phase.inputs.data();
    tile.b_offsets = phase.weights.data();
    tile.segments = segments - rest;
    tile.steps = kPanelWidth;
    tile.accumulate = false;
    tile.activation = rest > 0 ? nullptr : &activation;
    if (tile.segments > 0 || rest == 0) run(tile);
    if (rest == 0) return;
    tile.accumulate = tile.segments > 0;
    tile.a_offsets += tile.segments;
    tile.b_offsets += tile.segments;
    tile.segments = rest;
    tile.steps = rest_steps;
    tile.activation = &activation;
    run(tile);
  }

  // Neighbouring positions of a phase, between those of others. y: of the first panel.
  void store(const float* sums, const std::array<int64_t, 3>& position, const BlockPhase& phase, int64_t count,
             int64_t panels, float* y) const {
    std::array<int64_t, 3> at;
    for (size_t i = 0; i < 3; ++i) at[i] = position[i] * shape_.window[i].stride + phase.phase[i];
    y += ((at[0] * shape_.out[1] + at[1]) * shape_.out[2] + at[2]) * kPanelWidth;
    for (int64_t panel = 0; panel < panels; ++panel, y += shape_.out_plane() * kPanelWidth)
      for (int64_t i = 0; i < count; ++i, sums += kPanelWidth)
        std::copy_n(sums, kPanelWidth, y + i * shape_.window[2].stride * kPanelWidth);
  }

  const TransposedConvShape shape_;
  const FusedActivation activation_;
  const BlockTileTable& table_;
  const FinishFunction finish_;
  const int64_t blocks_, panels_;  // of input and of output channels
  std::array<int64_t, 3> positions_{};
  Reach reach_;
  bool copies_ = false;
  int64_t columns_ = 1, rows_ = 1, column_bands_ = 1, row_bands_ = 1, panel_block_ = 1, parts_ = 1;
  int64_t row_ = 0, slice_ = 0, block_ = 0;  // numbers from one to the next of what tiles read
  std::vector<BlockPhase> phases_;
};

// Numbers that a band of one row copies, at most. Follows from channels and window alone: what this kernel takes does
// not depend on other extents.
double most_copy_of(const TransposedConvShape& s) {
  double numbers = static_cast<double>(ceil_div(s.channels, kPanelWidth) * kPanelWidth);
  for (size_t i = 0; i < 3; ++i)
    numbers *=
        static_cast<double>((i == 2 ? kMostPhaseColumns : 1) + ceil_div(s.window[i].extent(), s.window[i].stride));
  return numbers;
}

}  // namespace

Result<KernelState> bind_conv_transpose_blocks(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvTransposeParams>();
  if (!is_blocked(request.input_layouts, 0) || !is_blocked(request.output_layouts, 0))
    return error(Code::Unsupported, "its input and result are not both in blocks");
  if (p.conv.group != 1) return error(Code::Unsupported, "it has {} groups", p.conv.group);
  TN_ASSIGN_OR_RETURN(const auto shape, TransposedConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  if (shape.channels == 0) return error(Code::Unsupported, "it has no input channels");
  if (most_copy_of(shape) > static_cast<double>(kMostPhaseRowCopy))
    return error(Code::Unsupported, "its window is too large for blocks");
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  TN_ASSIGN_OR_RETURN(const auto phases, phase_groups(shape, 1));
  auto conv = std::make_shared<BlockTransposedConv>(shape, phases, p.activation, request.isa);
  const int64_t scratch = conv->scratch_bytes(), chunks = conv->chunks();
  return KernelState{std::move(conv), scratch, chunks};
}

Status run_conv_transpose_blocks(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<BlockTransposedConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
