#include "ops/window.h"

#include <algorithm>

#include "base/checked_math.h"

namespace tenon {

namespace {

// Attributes beyond this are mistakes; below it, products of two of them fit an int64.
constexpr int64_t kLargest = (int64_t{1} << 31) - 1;

Status check_list(const char* name, std::span<const int64_t> values, size_t expected, int64_t least) {
  if (values.empty()) return {};
  if (values.size() != expected)
    return invalid_model("'{}' has {} entries; it needs {} for {} spatial axes", name, values.size(), expected,
                         name == std::string_view("pads") ? expected / 2 : expected);
  for (int64_t v : values)
    if (v < least || v > kLargest)
      return invalid_model("'{}' contains {}, which is outside [{}, {}]", name, v, least, kLargest);
  return {};
}

// What SAME padding adds along an axis in total.
int64_t same_padding(const WindowAxis& axis, int64_t input) {
  if (input == 0) return 0;
  return std::max<int64_t>(0, (ceil_div(input, axis.stride) - 1) * axis.stride + axis.extent() - input);
}

}  // namespace

Result<AutoPad> parse_auto_pad(const std::string& text) {
  if (text == "NOTSET" || text.empty()) return AutoPad::NotSet;
  if (text == "SAME_UPPER") return AutoPad::SameUpper;
  if (text == "SAME_LOWER") return AutoPad::SameLower;
  if (text == "VALID") return AutoPad::Valid;
  return invalid_model("auto_pad is '{}'; it must be 'NOTSET', 'SAME_UPPER', 'SAME_LOWER' or 'VALID'", text);
}

std::pair<int64_t, int64_t> WindowAxis::taps_inside(int64_t position, int64_t size) const {
  const int64_t start = position * stride - pad_begin;
  const int64_t first = start < 0 ? ceil_div(-start, dilation) : 0;
  const int64_t last = start >= size ? 0 : std::min(kernel, floor_div(size - 1 - start, dilation) + 1);
  return {first, std::max(first, last)};
}

int64_t WindowAxis::taps_in_padded(int64_t position, int64_t size) const {
  const int64_t start = position * stride - pad_begin, end = size + pad_end;
  return start >= end ? 0 : std::min(kernel, floor_div(end - 1 - start, dilation) + 1);
}

Dim Window::output(size_t i, const Dim& input, bool ceil_mode) const {
  const WindowAxis& axis = axes[i];
  const Dim stride(axis.stride);
  if (auto_pad == AutoPad::SameUpper || auto_pad == AutoPad::SameLower) return ceil_div(input, stride);
  const bool padded = auto_pad == AutoPad::NotSet;
  const Dim begin(padded ? axis.pad_begin : 0), end(padded ? axis.pad_end : 0);
  const Dim slack = input + begin + end - Dim(axis.extent());
  if (!ceil_mode) return floor_div(slack, stride) + Dim(1);
  // A last, incomplete window counts only when it starts inside the input or its leading padding.
  return min(ceil_div(slack, stride) + Dim(1), ceil_div(input + begin, stride));
}

Window Window::padded_for(Dims spatial) const {
  Window result = *this;
  result.auto_pad = AutoPad::NotSet;
  for (size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& axis = result.axes[i];
    if (auto_pad == AutoPad::NotSet) continue;
    const int64_t total = auto_pad == AutoPad::Valid ? 0 : same_padding(axis, spatial[i]);
    axis.pad_begin = auto_pad == AutoPad::SameLower ? total - total / 2 : total / 2;
    axis.pad_end = total - axis.pad_begin;
  }
  return result;
}

Result<Window> make_window(const WindowParams& p, size_t spatial_rank, std::span<const int64_t> kernel) {
  TN_RETURN_IF_ERROR(check_list("kernel_shape", p.kernel_shape, spatial_rank, 1));
  TN_RETURN_IF_ERROR(check_list("kernel_shape", kernel, spatial_rank, 1));
  TN_RETURN_IF_ERROR(check_list("strides", p.strides, spatial_rank, 1));
  TN_RETURN_IF_ERROR(check_list("dilations", p.dilations, spatial_rank, 1));
  TN_RETURN_IF_ERROR(check_list("pads", p.pads, 2 * spatial_rank, 0));
  if (kernel.empty()) kernel = p.kernel_shape;
  if (kernel.empty() && spatial_rank > 0) return invalid_model("'kernel_shape' is missing");
  if (!p.kernel_shape.empty() && !std::ranges::equal(kernel, p.kernel_shape))
    return invalid_model("'kernel_shape' differs from the shape of the weights");
  Window window;
  TN_ASSIGN_OR_RETURN(window.auto_pad, parse_auto_pad(p.auto_pad));
  for (size_t i = 0; i < spatial_rank; ++i) {
    WindowAxis axis{.kernel = kernel[i]};
    if (!p.strides.empty()) axis.stride = p.strides[i];
    if (!p.dilations.empty()) axis.dilation = p.dilations[i];
    if (!p.pads.empty() && window.auto_pad == AutoPad::NotSet) {
      axis.pad_begin = p.pads[i];
      axis.pad_end = p.pads[spatial_rank + i];
    }
    window.axes.push_back(axis);
  }
  return window;
}

Shape window_output_shape(const Window& window, const Shape& input, const Dim& channels, bool ceil_mode) {
  Shape shape{input[0], channels};
  for (size_t i = 0; i < window.rank(); ++i) shape.push_back(window.output(i, input[i + 2], ceil_mode));
  return shape;
}

}  // namespace tenon
