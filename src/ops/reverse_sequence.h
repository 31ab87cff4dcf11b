#pragma once

#include "ops/op.h"

namespace tenon {

struct ReverseSequenceParams {
  int64_t batch_axis = 1;
  int64_t time_axis = 0;
  void fields(FieldVisitor& v) {
    v.field("batch_axis", batch_axis);
    v.field("time_axis", time_axis);
  }
};

}  // namespace tenon
