#pragma once

#include "ops/op.h"

namespace tenon {

struct PadParams {
  std::string mode = "constant";  // constant, reflect, edge, wrap
  void fields(FieldVisitor& v) { v.field("mode", mode); }
};

struct CenterCropPadParams {
  std::optional<std::vector<int64_t>> axes;  // absent: all
  void fields(FieldVisitor& v) { v.field("axes", axes); }
};

}  // namespace tenon
