#pragma once

#include "ops/op.h"

namespace tenon {

// Flatten: the axes before `axis` become rows, the others columns.
struct FlattenParams {
  int64_t axis = 1;
  void fields(FieldVisitor& v) { v.field("axis", axis); }
};

}  // namespace tenon
