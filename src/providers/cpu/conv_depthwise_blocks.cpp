// Convolutions where each output channel reads the input channel of its own, in blocks of 16 channels.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_shape.h"
#include "providers/cpu/depthwise_blocks.h"
#include "providers/cpu/finish.h"

namespace tenon {

namespace {

// Multiplications that make a chunk worth sending to another thread.
constexpr int64_t kDepthwiseWork = 1 << 17;

class DepthwiseBlocks {
 public:
  DepthwiseBlocks(const ConvShape& shape, const FusedActivation& activation, Isa isa)
      : shape_(shape), activation_(activation), run_(depthwise_row_function(isa)), finish_(finish_function(isa)),
        blocks_(ceil_div(shape.groups, kPanelWidth)) {
    const int64_t work = std::max<int64_t>(1, shape_.out[2] * shape_.taps * kPanelWidth);
    rows_per_chunk_ = std::clamp<int64_t>(kDepthwiseWork / work, 1, shape_.out[1]);
    rows_per_chunk_ = ceil_div(shape_.out[1], ceil_div(shape_.out[1], rows_per_chunk_));
    row_parts_ = ceil_div(shape_.out[1], rows_per_chunk_);
  }

  int64_t chunks() const { return shape_.batch * blocks_ * shape_.out[0] * row_parts_; }
  const FusedActivation& activation() const { return activation_; }

  void run(int64_t index, const ConvTensors& tensors) const {
    const int64_t first = index % row_parts_ * rows_per_chunk_;
    const int64_t last = std::min(shape_.out[1], first + rows_per_chunk_);
    const int64_t slice = index / row_parts_ % shape_.out[0], plane = index / row_parts_ / shape_.out[0];
    const int64_t channel = plane % blocks_ * kPanelWidth;
    float bias[kPanelWidth] = {};
    if (tensors.bias) std::copy_n(tensors.bias + channel, std::min(kPanelWidth, shape_.groups - channel), bias);
    const float* weights = tensors.packed + channel * shape_.taps;
    const WindowAxis& x = shape_.window[2];
    DepthwiseRow row;
    row.kernel = x.kernel;
    row.stride = x.stride;
    row.dilation = x.dilation;
    row.pad = x.pad_begin;
    row.input_columns = shape_.in[2];
    row.columns = shape_.out[2];
    row.bias = bias;
    for (int64_t line = first; line < last; ++line) {
      find_rows(tensors.x + plane * shape_.in_plane() * kPanelWidth, weights, slice, line, row);
      const int64_t place = ((plane * shape_.out[0] + slice) * shape_.out[1] + line) * shape_.out[2] * kPanelWidth;
      row.y = tensors.y + place;
      row.addend = tensors.addend_at(row.y);
      run_(row);
      if (tensors.activation.kind != ActivationKind::None)
        finish_(row.y, row.y, shape_.out[2] * kPanelWidth, {.activation = tensors.activation});
    }
  }

 private:
  // The rows of the window that lie inside the input.
  void find_rows(const float* x, const float* weights, int64_t slice, int64_t line, DepthwiseRow& row) const {
    const WindowAxis &z = shape_.window[0], &y = shape_.window[1];
    const auto [z_first, z_last] = z.taps_inside(slice, shape_.in[0]);
    const auto [y_first, y_last] = y.taps_inside(line, shape_.in[1]);
    row.rows = 0;
    for (int64_t i = z_first; i < z_last; ++i)
      for (int64_t j = y_first; j < y_last; ++j) {
        const int64_t at = slice * z.stride + i * z.dilation - z.pad_begin;
        const int64_t from = line * y.stride + j * y.dilation - y.pad_begin;
        row.inputs[row.rows] = x + (at * shape_.in[1] + from) * shape_.in[2] * kPanelWidth;
        row.weights[row.rows++] = weights + (i * y.kernel + j) * shape_.window[2].kernel * kPanelWidth;
      }
  }

  const ConvShape shape_;
  const FusedActivation activation_;
  const DepthwiseRowFunction run_;
  const FinishFunction finish_;
  const int64_t blocks_;
  int64_t rows_per_chunk_ = 1, row_parts_ = 1;
};

}  // namespace

Result<KernelState> bind_conv_depthwise_blocks(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvParams>();
  if (!is_blocked(request.input_layouts, 0) || !is_blocked(request.output_layouts, 0))
    return error(Code::Unsupported, "its input and result are not both in blocks");
  if (p.layout != PackedLayout::Depthwise)
    return error(Code::Unsupported, "its weights are not packed for depthwise kernels");
  TN_RETURN_IF_ERROR(check_addend(request));
  TN_ASSIGN_OR_RETURN(const ConvShape shape, ConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  if (shape.outputs != 1) return error(Code::Unsupported, "it has {} outputs for each channel", shape.outputs);
  if (shape.window[0].kernel > kMostWindowRows || shape.window[1].kernel > kMostWindowRows / shape.window[0].kernel)
    return error(Code::Unsupported, "its window has more than {} rows", kMostWindowRows);
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  auto conv = std::make_shared<DepthwiseBlocks>(shape, p.activation, request.isa);
  const int64_t chunks = conv->chunks();
  return KernelState{std::move(conv), 0, chunks};
}

Status run_conv_depthwise_blocks(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<DepthwiseBlocks>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors); });
  return {};
}

}  // namespace tenon
