#pragma once

#include "ops/op.h"

namespace tenon {

struct SequenceEmptyParams {
  DType dtype = DType::Float32;
  void fields(FieldVisitor& v) { v.field("dtype", dtype); }
};

struct SplitToSequenceParams {
  int64_t axis = 0;
  bool keepdims = true;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("keepdims", keepdims);
  }
};

struct ConcatFromSequenceParams {
  int64_t axis = 0;
  bool new_axis = false;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("new_axis", new_axis);
  }
};

}  // namespace tenon
