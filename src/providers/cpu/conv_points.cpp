// Convolutions with few output positions: rows of the product are the positions, columns the output channels.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_shape.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/panel_product.h"

namespace tenon {

namespace {

constexpr int64_t kMostPositions = 16;
constexpr int64_t kSums = kMostPositions * kPanelBlock * kPanelWidth;
constexpr int64_t kPointScratch =
    (kSums + kMostPositions * kDepthBlock + kPanelBlock * kPanelWidth) * int64_t{sizeof(float)};

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

class PointConv {
 public:
  PointConv(const ConvShape& shape, const FusedActivation& activation, Isa isa)
      : shape_(shape), activation_(activation), table_(tile_table(isa)), finish_(finish_function(isa)),
        blocks_(shape, kDepthBlock), panels_(ceil_div(shape.outputs, kPanelWidth)),
        parts_(ceil_div(panels_, kPanelBlock)), direct_(shape.reads_everything_once()) {}

  int64_t chunks() const { return shape_.batch * shape_.groups * parts_; }
  const FusedActivation& activation() const { return activation_; }

  // A block of output channels of one group of one image.
  void run(int64_t chunk, const ConvTensors& tensors, float* sums) const {
    const int64_t image_group = chunk / parts_, first = chunk % parts_ * kPanelBlock;
    const int64_t count = std::min(kPanelBlock, panels_ - first);
    float *rows = sums + kSums, *results = rows + kMostPositions * kDepthBlock;
    if (blocks_.count() == 0) std::fill(sums, sums + kSums, 0.0f);
    for (int64_t i = 0; i < blocks_.count(); ++i) {
      if (i % kBlocksBetweenPolls == kBlocksBetweenPolls - 1) poll_cancelled();
      const DepthBlock block = blocks_[i];
      const float* x = tensors.x + (image_group * shape_.channels + block.first_channel) * shape_.in_plane();
      if (!direct_) gather_rows(shape_, block, x, rows);
      const int64_t panel = image_group % shape_.groups * panels_ + first;
      const TileOperands operands{.a = direct_ ? x + block.first_tap : rows,
                                  .a_stride = block.size(),
                                  .b = tensors.packed + (panel * shape_.depth() + blocks_.begin(block)) * kPanelWidth,
                                  .b_panel_stride = shape_.depth() * kPanelWidth,
                                  .b_depth_stride = kPanelWidth,
                                  .depth = block.size(),
                                  .c = sums,
                                  .c_stride = kPanelBlock * kPanelWidth,
                                  .accumulate = i > 0};
      multiply_tiles(table_, TileOrder::RowMajor, operands, shape_.out_plane(), count);
    }
    store(tensors, image_group, first * kPanelWidth, count * kPanelWidth, sums, results);
  }

 private:
  // Sums are rows of channels; the output has rows of positions.
  void store(const ConvTensors& tensors, int64_t image_group, int64_t column, int64_t most_columns, const float* sums,
             float* results) const {
    const int64_t columns = std::min(most_columns, shape_.outputs - column), positions = shape_.out_plane();
    const int64_t channel = image_group % shape_.groups * shape_.outputs + column;
    const Finish how{tensors.bias ? tensors.bias + channel : nullptr, 1, tensors.activation};
    float* y = tensors.y + (image_group * shape_.outputs + column) * positions;
    for (int64_t position = 0; position < positions; ++position) {
      finish_(sums + position * kPanelBlock * kPanelWidth, results, columns, how);
      for (int64_t i = 0; i < columns; ++i) y[i * positions + position] = results[i];
    }
  }

  const ConvShape shape_;
  const FusedActivation activation_;
  const TileTable& table_;
  const FinishFunction finish_;
  const DepthBlocks blocks_;
  const int64_t panels_, parts_;
  const bool direct_;
};

}  // namespace

Result<KernelState> bind_conv_points(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvParams>();
  if (p.layout != PackedLayout::Panels)
    return error(Code::Unsupported, "its weights are packed as {}", choice_name(p.layout));
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  const FusedActivation& activation = p.activation;
  TN_ASSIGN_OR_RETURN(const ConvShape shape, ConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  if (shape.out_plane() >= kMostPositions)
    return error(Code::Unsupported, "it has {} output positions; this kernel takes fewer than {}", shape.out_plane(),
                 kMostPositions);
  auto conv = std::make_shared<PointConv>(shape, activation, request.isa);
  const int64_t chunks = conv->chunks();
  return KernelState{std::move(conv), kPointScratch, chunks};
}

Status run_conv_points(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<PointConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
