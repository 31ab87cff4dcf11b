#pragma once

#include "ops/op.h"

namespace tenon {

struct NonMaxSuppressionParams {
  bool center_point_box = false;  // boxes are [x, y, width, height] instead of two corners [y, x, y, x]
  void fields(FieldVisitor& v) { v.field("center_point_box", center_point_box); }
};

}  // namespace tenon
