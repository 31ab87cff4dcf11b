#pragma once

#include <span>

#include "ops/infer.h"

// Windows that slide over the spatial axes of a tensor [batch, channels, spatial...]: the arithmetic that all
// convolutions and poolings share.
namespace tenon {

// Attributes as ONNX names them; an empty list means the default for every axis.
struct WindowParams {
  std::string auto_pad = "NOTSET";
  std::vector<int64_t> kernel_shape, strides, dilations, pads;
  void fields(FieldVisitor& v) {
    v.field("auto_pad", auto_pad);
    v.field("kernel_shape", kernel_shape);
    v.field("strides", strides);
    v.field("dilations", dilations);
    v.field("pads", pads);
  }
};

enum class AutoPad { NotSet, SameUpper, SameLower, Valid };
Result<AutoPad> parse_auto_pad(const std::string& text);

// One spatial axis: output position p and tap t meet at input position p * stride + t * dilation - pad_begin.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;

  // Input positions from the first tap to the last.
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  // The taps [first, last) that hit an input of this size (padding apart) at an output position.
  std::pair<int64_t, int64_t> taps_inside(int64_t position, int64_t size) const;
  // How many taps hit the input or its padding.
  int64_t taps_in_padded(int64_t position, int64_t size) const;
};

struct Window {
  std::vector<WindowAxis> axes;
  AutoPad auto_pad = AutoPad::NotSet;

  size_t rank() const { return axes.size(); }
  // The extent of the result along an axis.
  Dim output(size_t axis, const Dim& input, bool ceil_mode = false) const;
  // The same window with the padding that auto_pad asks for on an input of this size made explicit.
  Window padded_for(Dims spatial) const;
};

// The window that attributes describe, checked. The kernel may be given by a weight instead of kernel_shape.
Result<Window> make_window(const WindowParams& params, size_t spatial_rank, std::span<const int64_t> kernel = {});
// Batch and channels kept, spatial axes through the window.
Shape window_output_shape(const Window& window, const Shape& input, const Dim& channels, bool ceil_mode = false);

}  // namespace tenon
