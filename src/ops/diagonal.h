#pragma once

#include "ops/op.h"

namespace tenon {

struct TriluParams {
  bool upper = true;
  void fields(FieldVisitor& v) { v.field("upper", upper); }
};

struct EyeLikeParams {
  std::optional<DType> dtype;  // absent: the input's
  int64_t k = 0;               // which diagonal
  void fields(FieldVisitor& v) {
    v.field("dtype", dtype);
    v.field("k", k);
  }
};

}  // namespace tenon
