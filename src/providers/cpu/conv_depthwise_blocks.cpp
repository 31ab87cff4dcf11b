// Convolutions where each output channel reads the input channel of its own, in blocks of 16 channels.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_shape.h"
#include "providers/cpu/depthwise_blocks.h"
#include "providers/cpu/finish.h"

namespace tenon {

namespace {

// Multiplications that make a chunk worth sending to another thread.
constexpr int64_t kDepthwiseWork = 1 << 18;

class DepthwiseBlocks {
 public:
  DepthwiseBlocks(const ConvShape& shape, const FusedActivation& activation, Isa isa)
      : shape_(shape), activation_(activation), run_(depthwise_row_function(isa)), finish_(finish_function(isa)),
        blocks_(ceil_div(shape.groups, kPanelWidth)), lines_(shape_.batch * blocks_ * shape_.out[0] * shape_.out[1]) {
    const int64_t work = std::max<int64_t>(1, shape_.out[2] * shape_.taps * kPanelWidth);
    lines_per_chunk_ = std::max<int64_t>(1, kDepthwiseWork / work);
  }

  int64_t chunks() const { return ceil_div(lines_, lines_per_chunk_); }
  const FusedActivation& activation() const { return activation_; }

  void run(int64_t chunk, const ConvTensors& tensors) const {
    const int64_t last = std::min(lines_, (chunk + 1) * lines_per_chunk_);
    for (int64_t line = chunk * lines_per_chunk_; line < last;) {
      const int64_t slice = line / shape_.out[1], end = std::min(last, (slice + 1) * shape_.out[1]);
      run_lines(slice, line, end, tensors);
      line = end;
    }
  }

 private:
  // Lines of one slice of one block. Slices and lines are counted through all images and blocks.
  void run_lines(int64_t slice, int64_t first, int64_t last, const ConvTensors& tensors) const {
    const int64_t plane = slice / shape_.out[0], channel = plane % blocks_ * kPanelWidth;
    const int64_t input_row = shape_.in[2] * kPanelWidth, output_row = shape_.out[2] * kPanelWidth;
    float bias[kPanelWidth] = {};
    if (tensors.bias) std::copy_n(tensors.bias + channel, std::min(kPanelWidth, shape_.groups - channel), bias);
    const float* x = tensors.x + plane * shape_.in_plane() * kPanelWidth;
    const float* weights = tensors.packed + channel * shape_.taps;
    const WindowAxis& window = shape_.window[2];
    DepthwiseRow row;
    row.kernel = window.kernel;
    row.stride = window.stride;
    row.dilation = window.dilation;
    row.pad = window.pad_begin;
    row.input_columns = shape_.in[2];
    row.columns = shape_.out[2];
    row.bias = bias;
    row.activation = &tensors.activation;
    for (int64_t line = first; line < last; ++line) {
      row.rows = 0;
      for_each_row_inside(shape_.window, shape_.in, slice % shape_.out[0], line - slice * shape_.out[1],
                          [&](int64_t tap_row, int64_t from) {
                            row.inputs[row.rows] = x + from * input_row;
                            row.weights[row.rows++] = weights + tap_row * window.kernel * kPanelWidth;
                          });
      row.y = tensors.y + line * output_row;
      row.addend = tensors.addend_at(row.y);
      run_(row);
      if (!applied_in_registers(tensors.activation.kind))
        finish_(row.y, row.y, output_row, {.activation = tensors.activation});
    }
  }

  const ConvShape shape_;
  const FusedActivation activation_;
  const DepthwiseRowFunction run_;
  const FinishFunction finish_;
  const int64_t blocks_, lines_;
  int64_t lines_per_chunk_ = 1;
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
