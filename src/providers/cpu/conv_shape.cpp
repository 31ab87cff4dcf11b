#include "providers/cpu/conv_shape.h"

#include <algorithm>

#include "base/checked_math.h"

namespace tenon {

ConvExtents::ConvExtents(Dims x, Dims y, const Window& given, int64_t group, int64_t all_outputs)
    : batch(x[0]), groups(group), channels(x[1] / group), outputs(all_outputs / group) {
  const size_t rank = x.size() - 2;
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = 3 - rank + i;
    in[axis] = x[i + 2];
    out[axis] = y[i + 2];
    window[axis] = given.axes[i];
    taps *= given.axes[i].kernel;
  }
}

std::array<int64_t, 3> ConvShape::tap(int64_t index) const {
  const int64_t rest = index / window[2].kernel;
  return {rest / window[1].kernel, rest % window[1].kernel, index % window[2].kernel};
}

std::pair<int64_t, int64_t> ConvShape::columns_inside(int64_t tap) const {
  const WindowAxis& axis = window[2];
  const int64_t offset = tap * axis.dilation - axis.pad_begin;  // input column of output column 0
  const int64_t first = std::clamp<int64_t>(ceil_div(-offset, axis.stride), 0, out[2]);
  const int64_t last = std::clamp<int64_t>(ceil_div(in[2] - offset, axis.stride), first, out[2]);
  return {first, last};
}

bool ConvShape::reads_everything_once() const {
  for (size_t i = 0; i < 3; ++i) {
    const WindowAxis& a = window[i];
    const bool whole = out[i] == 1 && a.kernel == in[i] && a.pad_begin == 0 && (a.dilation == 1 || a.kernel == 1);
    if (!whole) return false;
  }
  return true;
}

bool ConvShape::is_pointwise() const {
  for (size_t i = 0; i < 3; ++i)
    if (window[i].kernel != 1 || window[i].stride != 1 || window[i].pad_begin != 0 || in[i] != out[i]) return false;
  return true;
}

Result<ConvShape> ConvShape::of(Dims x, Dims y, const PackedConvParams& params) {
  TN_ASSIGN_OR_RETURN(const Window window, make_window(params.conv.window, x.size() - 2));
  return ConvShape(x, y, window.padded_for(x.subspan(2)), params.conv.group, params.output_channels);
}

DepthBlocks::DepthBlocks(const ConvShape& shape, int64_t most) : channels_(shape.channels), taps_(shape.taps) {
  tap_blocks_ = ceil_div(taps_, most);
  channel_blocks_ = tap_blocks_ > 1 ? channels_ : ceil_div(channels_, most / taps_);
}

DepthBlock DepthBlocks::operator[](int64_t i) const {
  const int64_t c = i / tap_blocks_, t = i % tap_blocks_;
  const int64_t channel = channels_ * c / channel_blocks_, tap = taps_ * t / tap_blocks_;
  return {channel, channels_ * (c + 1) / channel_blocks_ - channel, tap, taps_ * (t + 1) / tap_blocks_ - tap};
}

}  // namespace tenon
