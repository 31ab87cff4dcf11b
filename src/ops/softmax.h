#pragma once

#include "ops/op.h"

namespace tenon {

// Softmax, LogSoftmax and Hardmax work along one axis.
struct SoftmaxParams {
  int64_t axis = -1;
  void fields(FieldVisitor& v) { v.field("axis", axis); }
};

}  // namespace tenon
