#pragma once

#include "ops/op.h"

namespace tenon {

struct ReshapeParams {
  bool allowzero = false;  // false: a 0 in the target copies the input's extent
  void fields(FieldVisitor& v) { v.field("allowzero", allowzero); }
};

}  // namespace tenon
