#pragma once

#include "ops/op.h"

namespace tenon {

struct BitShiftParams {
  std::string direction;  // LEFT or RIGHT
  void fields(FieldVisitor& v) { v.field("direction", direction); }
};

}  // namespace tenon
