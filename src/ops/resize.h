#pragma once

#include <span>

#include "ops/op.h"

namespace tenon {

struct ResizeParams {
  bool antialias = false;
  std::optional<std::vector<int64_t>> axes;  // absent: all
  std::string coordinate_transformation_mode = "half_pixel";
  float cubic_coeff_a = -0.75f;
  bool exclude_outside = false;
  float extrapolation_value = 0;
  std::string keep_aspect_ratio_policy = "stretch";
  std::string mode = "nearest";
  // Besides ONNX's own: "old", which version 10 and Upsample mean (up when shrinking, else down).
  std::string nearest_mode = "round_prefer_floor";
  void fields(FieldVisitor& v) {
    v.field("antialias", antialias);
    v.field("axes", axes);
    v.field("coordinate_transformation_mode", coordinate_transformation_mode);
    v.field("cubic_coeff_a", cubic_coeff_a);
    v.field("exclude_outside", exclude_outside);
    v.field("extrapolation_value", extrapolation_value);
    v.field("keep_aspect_ratio_policy", keep_aspect_ratio_policy);
    v.field("mode", mode);
    v.field("nearest_mode", nearest_mode);
  }
  // How many axes the inputs have entries for, and which one the i-th is.
  size_t resized_count(int64_t rank) const { return axes ? axes->size() : static_cast<size_t>(rank); }
  size_t resized_axis(size_t i, int64_t rank) const;
  // The axes in [0, rank), in the order of the inputs' entries. They must have been checked.
  std::vector<int64_t> resized_axes(int64_t rank) const;
};

// What happens to one axis.
struct AxisResize {
  int64_t from = 0, to = 0;
  double scale = 1;
};

// One entry per axis of the input, from scales or (when there are none) from sizes. `plan` has as many entries as
// `dims`.
Status plan_resize(const ResizeParams& params, std::span<const int64_t> dims, std::span<const float> scales,
                   std::span<const int64_t> sizes, std::span<AxisResize> plan);
Result<std::vector<AxisResize>> plan_resize(const ResizeParams& params, std::span<const int64_t> dims,
                                            std::span<const float> scales, std::span<const int64_t> sizes);

}  // namespace tenon
