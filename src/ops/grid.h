#pragma once

#include "ops/op.h"

namespace tenon {

struct GridSampleParams {
  bool align_corners = false;
  std::string mode = "linear";         // linear, nearest, cubic
  std::string padding_mode = "zeros";  // zeros, border, reflection
  void fields(FieldVisitor& v) {
    v.field("align_corners", align_corners);
    v.field("mode", mode);
    v.field("padding_mode", padding_mode);
  }
};

struct AffineGridParams {
  bool align_corners = false;
  void fields(FieldVisitor& v) { v.field("align_corners", align_corners); }
};

}  // namespace tenon
