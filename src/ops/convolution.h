#pragma once

#include "ops/window.h"

namespace tenon {

struct ConvParams {
  WindowParams window;
  int64_t group = 1;
  void fields(FieldVisitor& v) {
    window.fields(v);
    v.field("group", group);
  }
};

struct ConvTransposeParams {
  WindowParams window;
  int64_t group = 1;
  std::vector<int64_t> output_padding, output_shape;
  void fields(FieldVisitor& v) {
    window.fields(v);
    v.field("group", group);
    v.field("output_padding", output_padding);
    v.field("output_shape", output_shape);
  }
};

struct DeformConvParams {
  std::vector<int64_t> kernel_shape, strides, dilations, pads;
  int64_t group = 1, offset_group = 1;
  void fields(FieldVisitor& v) {
    v.field("kernel_shape", kernel_shape);
    v.field("strides", strides);
    v.field("dilations", dilations);
    v.field("pads", pads);
    v.field("group", group);
    v.field("offset_group", offset_group);
  }
  WindowParams window() const { return {"NOTSET", kernel_shape, strides, dilations, pads}; }
};

struct CausalConvParams {
  std::string activation = "none";
  int64_t state_window = 0;  // more than 0: states carry a leading axis for the last positions
  void fields(FieldVisitor& v) {
    v.field("activation", activation);
    v.field("state_window", state_window);
  }
};

// The result's shape of convolving input x [N, C, spatial...] with weights w [M, C / group, kernel...]; nothing while
// ranks are unknown. Checks everything that a kernel relies on.
Result<std::optional<Shape>> conv_output_shape(InferContext& c, const ConvParams& params, size_t x, size_t w);

// The window of a transposed convolution over an input of these spatial extents, with its padding made explicit, and
// the spatial extents of its result.
struct TransposedWindow {
  Window window;
  Shape output;
};
Result<TransposedWindow> transposed_window(const ConvTransposeParams& params, std::span<const Dim> input,
                                           std::span<const int64_t> kernel);

}  // namespace tenon
