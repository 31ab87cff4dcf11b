// Convolutions where each output channel reads one input channel. A block of output rows is made from a copy of the
// input rows it reads, with the padding in it and, for strides, with the columns sorted by their remainder: then every
// tap is a shift of neighbours.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/conv_shape.h"
#include "providers/cpu/depthwise.h"
#include "providers/cpu/finish.h"
#include "providers/cpu/gather.h"

namespace tenon {

namespace {

constexpr int64_t kCopyFloats = 16 * 1024, kMostDepthwiseTaps = 1024;
// Vectors reach past the end of what they compute by less than this.
constexpr int64_t kSlack = 16;
constexpr int64_t kDepthwiseScratch = 2 * (kCopyFloats + kSlack) * int64_t{sizeof(float)};
// Multiplications that make a chunk worth sending to another thread.
constexpr int64_t kChunkWork = 1 << 16;

// How a plane is cut into blocks, and how a block's copy of the input is laid out.
struct DepthwiseLayout {
  int64_t rows = 0, columns = 0;             // of a block of output
  int64_t phase_length = 0, row_length = 0;  // of the copy
  int64_t input_rows = 0;                    // of the copy, for each step of axis 0
  bool flat = false;                         // neighbouring rows are computed as one
};

// Tells whether blocks of so many columns fit.
bool fit(const ConvShape& s, int64_t columns, DepthwiseLayout& layout) {
  const WindowAxis &y = s.window[1], &x = s.window[2];
  layout.columns = columns;
  const int64_t reach = (x.kernel - 1) * x.dilation / x.stride;
  if (x.stride > kCopyFloats || reach > kCopyFloats || y.extent() > kCopyFloats || s.window[0].kernel > kCopyFloats)
    return false;
  layout.phase_length = columns + reach;
  layout.row_length = x.stride * layout.phase_length;
  const int64_t most_rows = kCopyFloats / (layout.row_length * s.window[0].kernel);
  if (most_rows < y.extent()) return false;
  layout.rows = std::min(s.out[1], (most_rows - y.extent()) / y.stride + 1);
  layout.input_rows = (layout.rows - 1) * y.stride + y.extent();
  layout.flat = y.stride == 1 && x.stride == 1 && reach < columns;
  return true;
}

class DepthwiseConv {
 public:
  DepthwiseConv(const ConvShape& shape, const FusedActivation& activation, const DepthwiseLayout& layout, Isa isa)
      : shape_(shape), activation_(activation), layout_(layout), run_(depthwise_function(isa)),
        finish_(finish_function(isa)), gather_(gather_function(isa)), row_blocks_(ceil_div(shape_.out[1], layout.rows)),
        column_blocks_(ceil_div(shape_.out[2], layout.columns)) {
    const WindowAxis &y = shape_.window[1], &x = shape_.window[2];
    for (int64_t t = 0; t < shape_.taps; ++t) {
      const auto tap = shape_.tap(t);
      const int64_t row = tap[0] * layout.input_rows + tap[1] * y.dilation, column = tap[2] * x.dilation;
      offsets_[static_cast<size_t>(t)] =
          static_cast<int32_t>(row * layout.row_length + column % x.stride * layout.phase_length + column / x.stride);
    }
    const int64_t work = std::max<int64_t>(1, layout.rows * layout.columns * shape_.taps);
    blocks_per_chunk_ = ceil_div(kChunkWork, work);
  }

  int64_t chunks() const { return ceil_div(blocks(), blocks_per_chunk_); }
  const FusedActivation& activation() const { return activation_; }
  void run(int64_t chunk, const ConvTensors& tensors, float* scratch) const {
    const int64_t first = chunk * blocks_per_chunk_, last = std::min(blocks(), first + blocks_per_chunk_);
    for (int64_t i = first; i < last; ++i) run_block(i, tensors, scratch);
  }

 private:
  int64_t outputs() const { return shape_.groups * shape_.outputs; }
  int64_t blocks() const { return shape_.batch * outputs() * shape_.out[0] * row_blocks_ * column_blocks_; }

  // Blocks in the order of the output: plane, depth, rows, columns.
  void run_block(int64_t index, const ConvTensors& tensors, float* copy) const {
    const int64_t column = index % column_blocks_ * layout_.columns;
    const int64_t row = index / column_blocks_ % row_blocks_ * layout_.rows;
    const int64_t slice = index / column_blocks_ / row_blocks_;
    const int64_t plane = slice / shape_.out[0], depth = slice % shape_.out[0];
    const int64_t output = plane % outputs(), input = plane / outputs() * shape_.groups + output / shape_.outputs;
    const int64_t rows = std::min(layout_.rows, shape_.out[1] - row);
    const int64_t columns = std::min(layout_.columns, shape_.out[2] - column);

    float* sums = copy + kCopyFloats + kSlack;
    copy_input(tensors.x + input * shape_.in_plane(), depth, row, column, copy);
    std::array<float, kMostDepthwiseTaps> weights;
    const float* packed = tensors.packed + output / kPanelWidth * shape_.taps * kPanelWidth + output % kPanelWidth;
    for (int64_t t = 0; t < shape_.taps; ++t) weights[static_cast<size_t>(t)] = packed[t * kPanelWidth];
    float* y = tensors.y + (slice * shape_.out[1] + row) * shape_.out[2] + column;
    if (layout_.flat) sum(copy, weights.data(), sums, (rows - 1) * layout_.row_length + columns);
    for (int64_t r = 0; r < rows; ++r) {
      float* from = layout_.flat ? sums + r * layout_.row_length : sums;
      if (!layout_.flat) sum(copy + r * shape_.window[1].stride * layout_.row_length, weights.data(), from, columns);
      finish_(from, y + r * shape_.out[2], columns, tensors.finish(output, y + r * shape_.out[2]));
    }
  }

  void sum(const float* copy, const float* weights, float* sums, int64_t count) const {
    run_(copy, offsets_.data(), weights, shape_.taps, sums, count);
  }

  // The rows that output rows from `row` on read, for every step of axis 0.
  void copy_input(const float* x, int64_t depth, int64_t row, int64_t column, float* copy) const {
    const WindowAxis &z = shape_.window[0], &y = shape_.window[1];
    const int64_t top = row * y.stride - y.pad_begin;  // input row of the first row of the copy
    const int64_t first = std::clamp<int64_t>(-top, 0, layout_.input_rows);
    const int64_t last = std::clamp<int64_t>(shape_.in[1] - top, first, layout_.input_rows);
    for (int64_t k = 0; k < z.kernel; ++k) {
      const int64_t at = depth * z.stride + k * z.dilation - z.pad_begin;
      float *to = copy + k * layout_.input_rows * layout_.row_length,
            *end = to + layout_.input_rows * layout_.row_length;
      if (at < 0 || at >= shape_.in[0]) {
        std::fill(to, end, 0.0f);
        continue;
      }
      std::fill(to, to + first * layout_.row_length, 0.0f);
      std::fill(to + last * layout_.row_length, end, 0.0f);
      copy_rows(x + (at * shape_.in[1] + top + first) * shape_.in[2], last - first, column,
                to + first * layout_.row_length);
    }
    std::fill_n(copy + z.kernel * layout_.input_rows * layout_.row_length, kSlack, 0.0f);
  }

  void copy_rows(const float* x, int64_t rows, int64_t column, float* to) const {
    const WindowAxis& axis = shape_.window[2];
    for (int64_t phase = 0; phase < axis.stride; ++phase) {
      const int64_t start = column * axis.stride + phase - axis.pad_begin;  // input column of the phase's first
      const int64_t first = std::clamp<int64_t>(ceil_div(-start, axis.stride), 0, layout_.phase_length);
      const int64_t last =
          std::clamp<int64_t>(ceil_div(shape_.in[2] - start, axis.stride), first, layout_.phase_length);
      const GatherPiece pieces[] = {
          {0, static_cast<int32_t>(first), -1},
          {static_cast<int32_t>(first), static_cast<int32_t>(last - first), start + first * axis.stride},
          {static_cast<int32_t>(last), static_cast<int32_t>(layout_.phase_length - last), -1}};
      gather_({.pieces = pieces,
               .piece_count = 3,
               .step = axis.stride,
               .channels = rows,
               .from = x,
               .from_stride = shape_.in[2],
               .to = to + phase * layout_.phase_length,
               .to_stride = layout_.row_length});
    }
  }

  const ConvShape shape_;
  const FusedActivation activation_;
  const DepthwiseLayout layout_;
  const DepthwiseFunction run_;
  const FinishFunction finish_;
  const GatherFunction gather_;
  const int64_t row_blocks_, column_blocks_;
  int64_t blocks_per_chunk_ = 1;
  std::array<int32_t, kMostDepthwiseTaps> offsets_;
};

}  // namespace

Result<KernelState> bind_conv_depthwise(const BindRequest& request) {
  const auto& p = request.params.get<PackedConvParams>();
  if (p.layout != PackedLayout::Depthwise)
    return error(Code::Unsupported, "its weights are not packed for depthwise kernels");
  if (count_of(request.outputs[0].dims) == 0) return KernelState{};  // nothing to compute
  const FusedActivation& activation = p.activation;
  TN_ASSIGN_OR_RETURN(const ConvShape shape, ConvShape::of(request.inputs[0].dims, request.outputs[0].dims, p));
  if (shape.taps > kMostDepthwiseTaps)
    return error(Code::Unsupported, "its window has {} positions; this kernel takes at most {}", shape.taps,
                 kMostDepthwiseTaps);
  for (const int64_t columns : {1024, 256, 64}) {
    DepthwiseLayout layout;
    if (!fit(shape, std::min<int64_t>(columns, shape.out[2]), layout)) continue;
    auto conv = std::make_shared<DepthwiseConv>(shape, activation, layout, request.isa);
    const int64_t chunks = conv->chunks();
    return KernelState{std::move(conv), kDepthwiseScratch, chunks};
  }
  return error(Code::Unsupported, "the rows that its window reads do not fit into the kernel's scratch memory");
}

Status run_conv_depthwise(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  const auto& conv = c.state<DepthwiseConv>();
  const ConvTensors tensors(c, conv.activation());
  c.parallel_for(conv.chunks(), [&](int64_t chunk) { conv.run(chunk, tensors, c.scratch<float>()); });
  return {};
}

}  // namespace tenon
