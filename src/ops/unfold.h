#pragma once

#include "ops/op.h"

namespace tenon {

struct UnfoldTensorParams {
  int64_t dim = -1;
  int64_t size = 0;  // of a slice; ONNX demands it
  int64_t step = 1;  // from one slice to the next
  void fields(FieldVisitor& v) {
    v.field("dim", dim);
    v.field("size", size);
    v.field("step", step);
  }
};

}  // namespace tenon
