#pragma once

#include "ops/op.h"

namespace tenon {

struct CompressParams {
  std::optional<int64_t> axis;  // absent: the input is flattened
  void fields(FieldVisitor& v) { v.field("axis", axis); }
};

struct UniqueParams {
  std::optional<int64_t> axis;  // absent: the input is flattened
  bool sorted = true;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("sorted", sorted);
  }
};

}  // namespace tenon
