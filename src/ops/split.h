#pragma once

#include "ops/op.h"

namespace tenon {

struct SplitParams {
  int64_t axis = 0;
  std::optional<int64_t> num_outputs;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("num_outputs", num_outputs);
  }
};

}  // namespace tenon
