#pragma once

#include "ops/op.h"

namespace tenon {

struct IsInfParams {
  bool detect_negative = true, detect_positive = true;
  void fields(FieldVisitor& v) {
    v.field("detect_negative", detect_negative);
    v.field("detect_positive", detect_positive);
  }
};

}  // namespace tenon
