#pragma once

#include "ops/op.h"

namespace tenon {

struct ConstantOfShapeParams {
  Tensor value;  // one element; undefined: float 0
  void fields(FieldVisitor& v) { v.field("value", value); }
};

struct OneHotParams {
  int64_t axis = -1;
  void fields(FieldVisitor& v) { v.field("axis", axis); }
};

}  // namespace tenon
