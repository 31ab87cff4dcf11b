#pragma once

#include <array>
#include <memory>

#include "ops/packed.h"
#include "providers/cpu/finish.h"
#include "providers/provider.h"

namespace tenon {

// The extents of a convolution, in either direction, over three spatial axes; missing ones in front are of extent 1.
struct ConvExtents {
  int64_t batch = 0, groups = 1;
  int64_t channels = 0, outputs = 0;  // of a group
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1};
  std::array<WindowAxis, 3> window;
  int64_t taps = 1;

  ConvExtents() = default;
  // x [batch, channels, ...] -> y [batch, all outputs, ...].
  ConvExtents(Dims x, Dims y, const Window& given, int64_t group, int64_t all_outputs);

  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  int64_t depth() const { return channels * taps; }
};

struct ConvShape : ConvExtents {
  using ConvExtents::ConvExtents;
  // Taps as positions on the three axes.
  std::array<int64_t, 3> tap(int64_t index) const;
  // Output positions [first, last) of axis 2 whose tap lies inside the input.
  std::pair<int64_t, int64_t> columns_inside(int64_t tap) const;
  // The window is the input, position by position: its one result reads the channels of a group as they lie.
  bool reads_everything_once() const;
  // Every output position reads its own input position and no other.
  bool is_pointwise() const;

  // As the op's rule has checked it.
  static Result<ConvShape> of(Dims x, Dims y, const PackedConvParams& params);
};

// What one run of a convolution reads and writes.
struct ConvTensors {
  const float* x = nullptr;
  const float* packed = nullptr;
  const float* bias = nullptr;  // may be null
  float* y = nullptr;
  const float* addend = nullptr;  // as y; may be null
  FusedActivation activation;
  // How sums of a channel become the results from `to` on.
  Finish finish(int64_t channel, const float* to) const {
    return {bias ? bias + channel : nullptr, 0, activation, addend_at(to)};
  }
  // What is added to the results from `to` on.
  const float* addend_at(const float* to) const { return addend ? addend + (to - y) : nullptr; }
  // `activation` as binding knows it; its bounds may come as inputs.
  ConvTensors(const KernelContext& c, const FusedActivation& activation);
};

// Part of the depth k: all taps of some channels, or some taps of one channel.
struct DepthBlock {
  int64_t first_channel, channels, first_tap, taps;
  int64_t size() const { return channels * taps; }
};

// How the depth is cut into blocks of at most `most` steps, about equal.
class DepthBlocks {
 public:
  DepthBlocks(const ConvShape& shape, int64_t most);
  int64_t count() const { return channel_blocks_ * tap_blocks_; }
  DepthBlock operator[](int64_t i) const;
  // The first k of a block.
  int64_t begin(const DepthBlock& block) const { return block.first_channel * taps_ + block.first_tap; }

 private:
  int64_t channels_, taps_, channel_blocks_, tap_blocks_;
};

// Convolutions with 3x3 kernels at the points of tiles, with many output positions (of those, with windows that move by
// one), with few, and with one input channel to a group.
Result<KernelState> bind_conv_bands(const BindRequest& request);
Status run_conv_bands(KernelContext& c);
Result<KernelState> bind_conv_winograd(const BindRequest& request);
Status run_conv_winograd(KernelContext& c);
Result<KernelState> bind_conv_planes(const BindRequest& request);
Status run_conv_planes(KernelContext& c);
Result<KernelState> bind_conv_points(const BindRequest& request);
Status run_conv_points(KernelContext& c);
Result<KernelState> bind_conv_depthwise(const BindRequest& request);
Status run_conv_depthwise(KernelContext& c);
// An error when the addend does not lie as the result does.
Status check_addend(const BindRequest& request);

// Results in blocks of channels.
Result<KernelState> bind_conv_blocks(const BindRequest& request);
Status run_conv_blocks(KernelContext& c);
Result<KernelState> bind_conv_depthwise_blocks(const BindRequest& request);
Status run_conv_depthwise_blocks(KernelContext& c);

}  // namespace tenon
