#pragma once

#include "ops/op.h"

namespace tenon {

struct RoiAlignParams {
  std::string coordinate_transformation_mode = "half_pixel", mode = "avg";
  int64_t output_height = 1, output_width = 1;
  int64_t sampling_ratio = 0;  // 0: as many points as the bin has pixels
  float spatial_scale = 1.0f;
  void fields(FieldVisitor& v) {
    v.field("coordinate_transformation_mode", coordinate_transformation_mode);
    v.field("mode", mode);
    v.field("output_height", output_height);
    v.field("output_width", output_width);
    v.field("sampling_ratio", sampling_ratio);
    v.field("spatial_scale", spatial_scale);
  }
};

struct MaxRoiPoolParams {
  std::vector<int64_t> pooled_shape;
  float spatial_scale = 1.0f;
  void fields(FieldVisitor& v) {
    v.field("pooled_shape", pooled_shape);
    v.field("spatial_scale", spatial_scale);
  }
};

}  // namespace tenon
