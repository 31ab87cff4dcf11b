// Convolutions with few output positions: rows of the product are the positions, columns the output channels, so that
// no column is left empty and each weight is read once for all positions of a chunk.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_pieces.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/panel_product.h"
#include "providers/cpu/to_rows.h"

namespace tenon {

namespace {

// Positions of an image, above which its planes are cut into columns instead; and those of a chunk.
constexpr int64_t kMostPositions = 256, kChunkPositions = 56;
static_assert(kChunkPositions <= ConvPieces::kMost);
// The last row of results may be read up to here.
constexpr int64_t kReadAhead = 16;
constexpr int64_t kColumns = kPanelBlock * kPanelWidth;

class PointConv {
 public:
  PointConv(const ConvShape& shape, const FusedActivation& activation, Isa isa)
      : shape_(shape), activation_(activation), table_(tile_table(isa)), finish_(finish_function(isa)),
        gather_(gather_function(isa)), rows_(to_rows_function(isa)), blocks_(shape, kDepthBlock),
        panels_(ceil_div(shape.outputs, kPanelWidth)), parts_(ceil_div(panels_, kPanelBlock)),
        tiles_(ceil_div(shape.out_plane(), kChunkPositions)), positions_(ceil_div(shape.out_plane(), tiles_)),
        is_vector_(shape.reads_everything_once()), is_pointwise_(shape.is_pointwise()) {}

  int64_t scratch_bytes() const {
    // Sums, gathered inputs, and one panel of results as rows.
    return (positions_ * (kColumns + kDepthBlock + kPanelWidth) + kReadAhead) * int64_t{sizeof(float)};
  }
  int64_t chunks() const { return shape_.batch * shape_.groups * tiles_ * parts_; }
  const FusedActivation& activation() const { return activation_; }

  // A block of output channels of one group at some positions of one image.
  void run(int64_t chunk, const ConvTensors& tensors, float* sums) const {
    const int64_t first = chunk % parts_ * kPanelBlock, tile = chunk / parts_ % tiles_;
    const int64_t image_group = chunk / parts_ / tiles_, count = std::min(kPanelBlock, panels_ - first);
    const int64_t begin = shape_.out_plane() * tile / tiles_, end = shape_.out_plane() * (tile + 1) / tiles_;
    float *gathered = sums + positions_ * kColumns, *results = gathered + positions_ * kDepthBlock;
    if (blocks_.count() == 0) std::fill(sums, sums + positions_ * kColumns, 0.0f);
    for (int64_t i = 0; i < blocks_.count(); ++i) {
      if (i % kBlocksBetweenPolls == kBlocksBetweenPolls - 1) poll_cancelled();
      const DepthBlock block = blocks_[i];
      const float* x = tensors.x + (image_group * shape_.channels + block.first_channel) * shape_.in_plane();
      const int64_t panel = image_group % shape_.groups * panels_ + first;
      TileOperands operands{.b = tensors.packed + (panel * shape_.depth() + blocks_.begin(block)) * kPanelWidth,
                            .b_panel_stride = shape_.depth() * kPanelWidth,
                            .b_depth_stride = kPanelWidth,
                            .depth = block.size(),
                            .c = sums,
                            .c_stride = kColumns,
                            .accumulate = i > 0};
      if (is_vector_) {
        operands.a = x + block.first_tap;
        operands.a_stride = 1;
      } else if (is_pointwise_) {
        operands.a = x + begin;
        operands.a_stride = shape_.in_plane();
      } else {
        gather_positions(shape_, block, begin, end, end - begin, x, gather_, gathered);
        operands.a = gathered;
        operands.a_stride = end - begin;
      }
      multiply_tiles(table_, TileOrder::DepthMajor, operands, end - begin, count);
    }
    store(tensors, image_group, first, count, begin, end, sums, results);
  }

 private:
  // Sums are rows of channels; the output has rows of positions.
  void store(const ConvTensors& tensors, int64_t image_group, int64_t first, int64_t count, int64_t begin, int64_t end,
             const float* sums, float* results) const {
    const int64_t positions = end - begin, group = image_group % shape_.groups;
    for (int64_t panel = first; panel < first + count; ++panel) {
      rows_(sums + (panel - first) * kPanelWidth, kColumns, positions, results, positions);
      const int64_t last = std::min(kPanelWidth, shape_.outputs - panel * kPanelWidth);
      for (int64_t i = 0; i < last; ++i) {
        const int64_t output = panel * kPanelWidth + i, channel = group * shape_.outputs + output;
        float* y = tensors.y + (image_group * shape_.outputs + output) * shape_.out_plane() + begin;
        finish_(results + i * positions, y, positions, tensors.finish(channel, y));
      }
    }
  }

  const ConvShape shape_;
  const FusedActivation activation_;
  const TileTable& table_;
  const FinishFunction finish_;
  const GatherFunction gather_;
  const ToRowsFunction rows_;
  const DepthBlocks blocks_;
  const int64_t panels_, parts_;     // of output channels
  const int64_t tiles_, positions_;  // of positions; the most of one
  const bool is_vector_, is_pointwise_;
};

}  // namespace

Result<KernelState> bind_conv_points(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvParams>();
  if (p.layout != PackedLayout::Panels)
    return error(Code::Unsupported, "its weights are packed as {}", choice_name(p.layout));
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  TN_ASSIGN_OR_RETURN(const ConvShape shape, ConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  if (shape.out_plane() > kMostPositions)
    return error(Code::Unsupported, "it has {} output positions; this kernel takes at most {}", shape.out_plane(),
                 kMostPositions);
  auto conv = std::make_shared<PointConv>(shape, p.activation, request.isa);
  const int64_t scratch = conv->scratch_bytes(), chunks = conv->chunks();
  return KernelState{std::move(conv), scratch, chunks};
}

Status run_conv_points(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<PointConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
