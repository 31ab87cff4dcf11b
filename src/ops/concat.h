#pragma once

#include "ops/op.h"

namespace tenon {

struct ConcatParams {
  int64_t axis = 0;
  void fields(FieldVisitor& v) { v.field("axis", axis); }
};

}  // namespace tenon
