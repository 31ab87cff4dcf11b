#pragma once

#include "ops/op.h"

namespace tenon {

struct ModParams {
  bool fmod = false;  // false: the result has the divisor's sign; true: the dividend's
  void fields(FieldVisitor& v) { v.field("fmod", fmod); }
};

}  // namespace tenon
