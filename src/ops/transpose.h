#pragma once

#include "ops/op.h"

namespace tenon {

struct TransposeParams {
  std::optional<std::vector<int64_t>> perm;  // absent: reversed
  void fields(FieldVisitor& v) { v.field("perm", perm); }
};

}  // namespace tenon
