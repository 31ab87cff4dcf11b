// Transposed convolutions, phase by phase: rows of the product are output channels, columns are neighbouring positions
// of a phase. What a tile of positions reads is gathered once for all phases of a group, whose results are stored
// between each other. No element of the output is written twice.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/gather.h"
#include "providers/cpu/interleave.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/panel_product.h"
#include "providers/cpu/transposed_conv_shape.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

// Positions of a tile: three panels, which with their part of the depth stay in a first-level cache.
constexpr int64_t kPhaseTilePanels = 3, kPhaseTileWidth = kPhaseTilePanels * kPanelWidth;
constexpr int64_t kPanelSums = kPanelWidth * kPhaseTileWidth;
// Gathered rows, and the channels of a source that make a product worth its sums' way to memory and back.
constexpr int64_t kGatheredRows = 192, kLeastChannels = 16;
// Panels of sums of a chunk, those of all its phases.
constexpr int64_t kMostPhasePanels = 16, kWantedPhaseChunks = 8;
// Finishing reads up to the next multiple of 16.
constexpr int64_t kFinishSlack = 16;
constexpr int64_t kPhaseScratch =
    (kMostPhasePanels * kPanelSums + kGatheredRows * kPhaseTileWidth + kFinishSlack) * int64_t{sizeof(float)};

// Some sources of some channels, which are gathered together.
struct SourceBlock {
  int64_t first_channel, channels;
  size_t first_source, sources;
};

// How the sources and channels of a group are cut into such blocks.
class SourceBlocks {
 public:
  SourceBlocks(int64_t channels, size_t sources) : channels_(channels), sources_(static_cast<int64_t>(sources)) {
    if (channels == 0 || sources == 0) return;
    const int64_t most_channels =
        std::clamp(kGatheredRows / sources_, std::min(channels, kLeastChannels), std::min(channels, kGatheredRows));
    channel_blocks_ = ceil_div(channels, most_channels);
    source_blocks_ = ceil_div(sources_, kGatheredRows / most_channels);
  }
  int64_t count() const { return channel_blocks_ * source_blocks_; }
  SourceBlock operator[](int64_t i) const {
    const auto [channel, channel_end] = part(channels_, i / source_blocks_, channel_blocks_);
    const auto [source, source_end] = part(sources_, i % source_blocks_, source_blocks_);
    return {channel, channel_end - channel, static_cast<size_t>(source), static_cast<size_t>(source_end - source)};
  }

 private:
  static std::pair<int64_t, int64_t> part(int64_t whole, int64_t i, int64_t parts) {
    return {whole * i / parts, whole * (i + 1) / parts};
  }
  int64_t channels_, sources_, channel_blocks_ = 0, source_blocks_ = 0;
};

// Where the columns of a tile come from, for one source.
class SourcePieces {
 public:
  void find(const TransposedConvShape& shape, const PhaseGroup& group, const PhaseGroup::Source& source, int64_t begin,
            int64_t end, int64_t width) {
    count_ = 0;
    const int64_t length = group.positions[2], shift = source.shift[2];
    const int64_t first = std::clamp<int64_t>(-shift, 0, length);
    const int64_t last = std::clamp<int64_t>(shape.in[2] - shift, first, length);
    for (int64_t position = begin; position < end;) {
      const int64_t column = position % length, row = position / length;
      const int64_t columns = std::min(length - column, end - position);
      const int64_t z = row / group.positions[1] + source.shift[0], y = row % group.positions[1] + source.shift[1];
      const bool inside = z >= 0 && z < shape.in[0] && y >= 0 && y < shape.in[1];
      const int64_t from = inside ? std::clamp(first, column, column + columns) : column + columns;
      const int64_t until = inside ? std::clamp(last, from, column + columns) : from;
      add(position - begin, from - column, -1);
      add(position - begin + from - column, until - from, (z * shape.in[1] + y) * shape.in[2] + from + shift);
      add(position - begin + until - column, column + columns - until, -1);
      position += columns;
    }
    add(end - begin, width - (end - begin), -1);
  }
  const GatherPiece* pieces() const { return pieces_.data(); }
  int64_t count() const { return count_; }

 private:
  void add(int64_t to, int64_t count, int64_t from) {
    if (count <= 0) return;
    GatherPiece* before = count_ > 0 ? &pieces_[static_cast<size_t>(count_ - 1)] : nullptr;
    // Rows that are read as a whole go on where the one before ended.
    if (before && (from < 0 ? before->from < 0 : before->from >= 0 && before->from + before->count == from))
      before->count += static_cast<int32_t>(count);
    else
      pieces_[static_cast<size_t>(count_++)] = {static_cast<int32_t>(to), static_cast<int32_t>(count), from};
  }

  int64_t count_ = 0;
  std::array<GatherPiece, 3 * kPhaseTileWidth + 1> pieces_;
};

// The part of the result that one chunk makes.
struct PhaseChunk {
  const PhaseGroup* phases = nullptr;
  int64_t image = 0, group = 0;
  int64_t begin = 0, end = 0;               // positions of the phases
  int64_t first_panel = 0, last_panel = 0;  // of the group's output channels

  int64_t panels() const { return last_panel - first_panel; }
  int64_t width() const { return ceil_div(end - begin, kPanelWidth) * kPanelWidth; }
};

class PhaseConv {
 public:
  PhaseConv(const TransposedConvShape& shape, std::vector<PhaseGroup> groups, const FusedActivation& activation,
            Isa isa)
      : shape_(shape), groups_(std::move(groups)), activation_(activation), table_(tile_table(isa)),
        finish_(finish_function(isa)), gather_(gather_function(isa)), interleave_(interleave_function(isa)),
        panels_(ceil_div(shape.outputs, kPanelWidth)) {
    int64_t plane = 0, phases = 1;
    for (const PhaseGroup& group : groups_) {
      plane = std::max(plane, group.plane());
      phases = std::max(phases, group.phases);
    }
    tiles_ = ceil_div(ceil_div(plane, kPanelWidth), kPhaseTilePanels);
    const int64_t others = shape_.batch * shape_.groups * tiles_ * static_cast<int64_t>(groups_.size());
    const int64_t least_parts = ceil_div(panels_, kMostPhasePanels / phases);
    const int64_t parts = std::min(panels_, std::max(ceil_div(kWantedPhaseChunks, others), least_parts));
    panel_block_ = ceil_div(panels_, parts);
    panel_parts_ = ceil_div(panels_, panel_block_);
  }

  int64_t chunks() const {
    return shape_.batch * shape_.groups * tiles_ * static_cast<int64_t>(groups_.size()) * panel_parts_;
  }
  const FusedActivation& activation() const { return activation_; }

  void run(int64_t index, const ConvTensors& tensors, float* sums) const {
    const PhaseChunk chunk = chunk_at(index);
    if (chunk.begin >= chunk.end) return;
    float* gathered = sums + kMostPhasePanels * kPanelSums + kFinishSlack;
    const SourceBlocks blocks(shape_.channels, chunk.phases->sources.size());
    uint32_t begun = 0;  // phases that have sums, as bits
    for (int64_t i = 0; i < blocks.count(); ++i) {
      if (i % kBlocksBetweenPolls == kBlocksBetweenPolls - 1) poll_cancelled();
      const SourceBlock block = blocks[i];
      gather_sources(tensors, chunk, block, gathered);
      multiply_block(tensors, chunk, block, gathered, sums, begun);
    }
    for (int64_t phase = 0; phase < chunk.phases->phases; ++phase)
      if ((begun >> phase & 1) == 0) std::fill_n(sums_of(chunk, sums, phase), chunk.panels() * kPanelSums, 0.0f);
    store(tensors, chunk, sums);
  }

 private:
  PhaseChunk chunk_at(int64_t index) const {
    const auto count = static_cast<int64_t>(groups_.size());
    const int64_t part = index % panel_parts_, tile = index / panel_parts_ / count % tiles_;
    const int64_t plane = index / panel_parts_ / count / tiles_;
    PhaseChunk chunk;
    chunk.phases = &groups_[static_cast<size_t>(index / panel_parts_ % count)];
    chunk.image = plane / shape_.groups;
    chunk.group = plane % shape_.groups;
    const int64_t positions = chunk.phases->plane(), position_panels = ceil_div(positions, kPanelWidth);
    chunk.begin = position_panels * tile / tiles_ * kPanelWidth;
    chunk.end = std::min(positions, position_panels * (tile + 1) / tiles_ * kPanelWidth);
    chunk.first_panel = part * panel_block_;
    chunk.last_panel = std::min(panels_, chunk.first_panel + panel_block_);
    return chunk;
  }

  static float* sums_of(const PhaseChunk& chunk, float* sums, int64_t phase) {
    return sums + phase * chunk.panels() * kPanelSums;
  }

  void gather_sources(const ConvTensors& tensors, const PhaseChunk& chunk, const SourceBlock& block,
                      float* gathered) const {
    const int64_t width = chunk.width(), plane = shape_.in_plane();
    const int64_t channel = (chunk.image * shape_.groups + chunk.group) * shape_.channels + block.first_channel;
    SourcePieces pieces;
    Gather g{.channels = block.channels, .from = tensors.x + channel * plane, .from_stride = plane, .to_stride = width};
    for (size_t i = 0; i < block.sources; ++i) {
      pieces.find(shape_, *chunk.phases, chunk.phases->sources[block.first_source + i], chunk.begin, chunk.end, width);
      g.pieces = pieces.pieces();
      g.piece_count = pieces.count();
      g.to = gathered + static_cast<int64_t>(i) * block.channels * width;
      gather_(g);
    }
  }

  void multiply_block(const ConvTensors& tensors, const PhaseChunk& chunk, const SourceBlock& block,
                      const float* gathered, float* sums, uint32_t& begun) const {
    const int64_t width = chunk.width();
    TileOperands o{.a_stride = shape_.taps * kPanelWidth,
                   .b_panel_stride = kPanelWidth,
                   .b_depth_stride = width,
                   .depth = block.channels,
                   .c_stride = kPhaseTileWidth};
    const auto& products = chunk.phases->products;
    auto product = std::ranges::lower_bound(products, block.first_source, {}, &PhaseGroup::Product::source);
    for (; product != products.end() && product->source < block.first_source + block.sources; ++product) {
      const int64_t source = static_cast<int64_t>(product->source - block.first_source);
      o.b = gathered + source * block.channels * width;
      o.accumulate = (begun >> product->phase & 1) != 0;
      begun |= uint32_t{1} << product->phase;
      for (int64_t panel = chunk.first_panel; panel < chunk.last_panel; ++panel) {
        const int64_t k = block.first_channel * shape_.taps + product->tap;
        o.a = tensors.packed + ((chunk.group * panels_ + panel) * shape_.depth() + k) * kPanelWidth;
        o.c = sums_of(chunk, sums, product->phase) + (panel - chunk.first_panel) * kPanelSums;
        multiply_tiles(table_, TileOrder::DepthMajor, o, std::min(kPanelWidth, shape_.outputs - panel * kPanelWidth),
                       width / kPanelWidth);
      }
    }
  }

  void store(const ConvTensors& tensors, const PhaseChunk& chunk, float* sums) const {
    const int64_t first = chunk.first_panel * kPanelWidth;
    const int64_t last = std::min(shape_.outputs, chunk.last_panel * kPanelWidth);
    for (int64_t i = first; i < last; ++i) {
      const int64_t channel = chunk.group * shape_.outputs + i;
      const int64_t plane = chunk.image * shape_.groups * shape_.outputs + channel;
      float* row = sums + (i - first) * kPhaseTileWidth;
      const Finish how{tensors.bias ? tensors.bias + channel : nullptr, 0, tensors.activation, nullptr};
      for (int64_t phase = 0; phase < chunk.phases->phases; ++phase) {
        float* results = sums_of(chunk, row, phase);
        finish_(results, results, chunk.end - chunk.begin, how);
      }
      store_channel(chunk, row, tensors.y + plane * shape_.out_plane());
    }
  }

  // Finished rows of one channel, between each other.
  void store_channel(const PhaseChunk& chunk, const float* results, float* y) const {
    const PhaseGroup& group = *chunk.phases;
    const int64_t length = group.positions[2], step = shape_.window[2].stride;
    // Positions of the row that all phases have.
    const int64_t whole = shape_.positions(2, group.phase[2] + group.phases - 1);
    for (int64_t position = chunk.begin; position < chunk.end;) {
      const int64_t column = position % length, row = position / length;
      const int64_t columns = std::min(length - column, chunk.end - position);
      const int64_t z = row / group.positions[1] * shape_.window[0].stride + group.phase[0];
      const int64_t y_row = row % group.positions[1] * shape_.window[1].stride + group.phase[1];
      Interleave o{.from = results + position - chunk.begin,
                   .from_stride = chunk.panels() * kPanelSums,
                   .rows = group.phases,
                   .count = std::min(columns, whole - column),
                   .to = y + (z * shape_.out[1] + y_row) * shape_.out[2] + column * step + group.phase[2],
                   .step = step};
      interleave_(o);
      if (column + columns > whole) store_last(o, columns - 1, shape_.out[2] - column * step - group.phase[2]);
      position += columns;
    }
  }

  // The last position of a row, of which the output ends before some phase: so many floats after the first.
  static void store_last(const Interleave& o, int64_t position, int64_t length) {
    for (int64_t row = 0; row < o.rows && position * o.step + row < length; ++row)
      o.to[position * o.step + row] = o.from[row * o.from_stride + position];
  }

  const TransposedConvShape shape_;
  const std::vector<PhaseGroup> groups_;
  const FusedActivation activation_;
  const TileTable& table_;
  const FinishFunction finish_;
  const GatherFunction gather_;
  const InterleaveFunction interleave_;
  const int64_t panels_;  // of a group's output channels
  int64_t tiles_ = 1, panel_block_ = 1, panel_parts_ = 1;
};

Result<KernelState> bind_phases(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvTransposeParams>();
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  TN_ASSIGN_OR_RETURN(const auto shape, TransposedConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  TN_ASSIGN_OR_RETURN(auto groups, phase_groups(shape, kMostPhasePanels));
  auto conv = std::make_shared<PhaseConv>(shape, std::move(groups), p.activation, request.isa);
  const int64_t chunks = conv->chunks();
  return KernelState{std::move(conv), kPhaseScratch, chunks};
}

Status run_phases(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<PhaseConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace

std::span<const Variant> packed_conv_transpose_variants() {
  static const Variant variants[] = {
      {.name = "blocks",
       .run = run_conv_transpose_blocks,
       .bind = bind_conv_transpose_blocks,
       .layouts = Variant::For::Blocks},
      {"phases", run_phases, bind_phases},
      {"plain", find_reference_family("reference/PackedConvTranspose")->variants[0].run}};
  return variants;
}

}  // namespace tenon
