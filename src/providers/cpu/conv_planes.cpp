// Convolutions with many output positions: rows of the product are output channels, columns are neighbouring output
// positions. What a tile of positions reads is gathered into rows of k, and results are stored as they come.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_pieces.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/panel_product.h"
#include "providers/cpu/tiles.h"

namespace tenon {

namespace {

// Positions of a tile: three panels, which with their part of the depth stay in a first-level cache.
constexpr int64_t kTilePanels = 3, kTileWidth = kTilePanels * kPanelWidth;
static_assert(kTileWidth <= ConvPieces::kMost);
constexpr int64_t kDepth = 192;
// Panels of output channels of a chunk, at most; fewer when there are few tiles to share out.
constexpr int64_t kMostPanels = 16, kWantedChunks = 8;

// The part of the result that one chunk makes.
struct PlaneChunk {
  int64_t image = 0, group = 0;
  int64_t begin = 0, end = 0;               // output positions
  int64_t first_panel = 0, last_panel = 0;  // of the group's output channels
};

class PlaneConv {
 public:
  PlaneConv(const ConvShape& shape, const FusedActivation& activation, Isa isa)
      : shape_(shape), activation_(activation), table_(tile_table(isa)), finish_(finish_function(isa)),
        gather_(gather_function(isa)), blocks_(shape, kDepth), panels_(ceil_div(shape.outputs, kPanelWidth)),
        position_panels_(ceil_div(shape.out_plane(), kPanelWidth)), tiles_(ceil_div(position_panels_, kTilePanels)),
        pointwise_(shape.is_pointwise()) {
    const int64_t others = shape_.batch * shape_.groups * tiles_;
    const int64_t parts = std::min(panels_, std::max(ceil_div(kWantedChunks, others), ceil_div(panels_, kMostPanels)));
    panel_block_ = ceil_div(panels_, parts);
    panel_parts_ = ceil_div(panels_, panel_block_);
  }

  int64_t scratch_bytes() const {
    return kTileWidth * (kDepth + panel_block_ * kPanelWidth) * static_cast<int64_t>(sizeof(float));
  }
  int64_t chunks() const { return shape_.batch * shape_.groups * tiles_ * panel_parts_; }
  const FusedActivation& activation() const { return activation_; }

  void run(int64_t index, const ConvTensors& tensors, float* sums) const {
    const PlaneChunk chunk = chunk_at(index);
    float* gathered = sums + panel_block_ * kPanelWidth * kTileWidth;
    const int64_t rows = (chunk.last_panel - chunk.first_panel) * kPanelWidth;
    if (blocks_.count() == 0) std::fill(sums, sums + rows * kTileWidth, 0.0f);
    for (int64_t i = 0; i < blocks_.count(); ++i) {
      if (i % kBlocksBetweenPolls == kBlocksBetweenPolls - 1) poll_cancelled();
      multiply_block(tensors, chunk, blocks_[i], i > 0, gathered, sums);
    }
    store(tensors, chunk, sums);
  }

 private:
  PlaneChunk chunk_at(int64_t index) const {
    const int64_t part = index % panel_parts_, tile = index / panel_parts_ % tiles_;
    const int64_t plane = index / panel_parts_ / tiles_;
    PlaneChunk chunk;
    chunk.image = plane / shape_.groups;
    chunk.group = plane % shape_.groups;
    chunk.begin = position_panels_ * tile / tiles_ * kPanelWidth;
    chunk.end = std::min(shape_.out_plane(), position_panels_ * (tile + 1) / tiles_ * kPanelWidth);
    chunk.first_panel = part * panel_block_;
    chunk.last_panel = std::min(panels_, chunk.first_panel + panel_block_);
    return chunk;
  }

  void multiply_block(const ConvTensors& tensors, const PlaneChunk& chunk, const DepthBlock& block, bool accumulate,
                      float* gathered, float* sums) const {
    const int64_t width = ceil_div(chunk.end - chunk.begin, kPanelWidth) * kPanelWidth, plane = shape_.in_plane();
    const int64_t channel = (chunk.image * shape_.groups + chunk.group) * shape_.channels + block.first_channel;
    const float* x = tensors.x + channel * plane;
    TileOperands o{.a_stride = kPanelWidth,
                   .b_panel_stride = kPanelWidth,
                   .depth = block.size(),
                   .c_stride = kTileWidth,
                   .accumulate = accumulate};
    if (pointwise_ && chunk.end - chunk.begin == width) {
      o.b = x + chunk.begin;
      o.b_depth_stride = plane;
    } else {
      gather_positions(shape_, block, chunk.begin, chunk.end, width, x, gather_, gathered);
      o.b = gathered;
      o.b_depth_stride = width;
    }
    for (int64_t panel = chunk.first_panel; panel < chunk.last_panel; ++panel) {
      o.a = tensors.packed + ((chunk.group * panels_ + panel) * shape_.depth() + blocks_.begin(block)) * kPanelWidth;
      o.c = sums + (panel - chunk.first_panel) * kPanelWidth * kTileWidth;
      multiply_tiles(table_, TileOrder::DepthMajor, o, std::min(kPanelWidth, shape_.outputs - panel * kPanelWidth),
                     width / kPanelWidth);
    }
  }

  void store(const ConvTensors& tensors, const PlaneChunk& chunk, const float* sums) const {
    const int64_t first = chunk.first_panel * kPanelWidth;
    const int64_t last = std::min(shape_.outputs, chunk.last_panel * kPanelWidth);
    for (int64_t i = first; i < last; ++i) {
      const int64_t channel = chunk.group * shape_.outputs + i;
      const int64_t plane = chunk.image * shape_.groups * shape_.outputs + channel;
      float* y = tensors.y + plane * shape_.out_plane() + chunk.begin;
      finish_(sums + (i - first) * kTileWidth, y, chunk.end - chunk.begin, tensors.finish(channel, y));
    }
  }

  const ConvShape shape_;
  const FusedActivation activation_;
  const TileTable& table_;
  const FinishFunction finish_;
  const GatherFunction gather_;
  const DepthBlocks blocks_;
  const int64_t panels_;           // of a group's output channels
  const int64_t position_panels_;  // of an image's output positions
  const int64_t tiles_;
  const bool pointwise_;
  int64_t panel_block_ = 1, panel_parts_ = 1;
};

}  // namespace

Result<KernelState> bind_conv_planes(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvParams>();
  if (p.layout != PackedLayout::Panels)
    return error(Code::Unsupported, "its weights are packed as {}", choice_name(p.layout));
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  const FusedActivation& activation = p.activation;
  TN_ASSIGN_OR_RETURN(const ConvShape shape, ConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  auto conv = std::make_shared<PlaneConv>(shape, activation, request.isa);
  const int64_t scratch = conv->scratch_bytes(), chunks = conv->chunks();
  return KernelState{std::move(conv), scratch, chunks};
}

Status run_conv_planes(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<PlaneConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
