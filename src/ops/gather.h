#pragma once

#include "ops/op.h"

namespace tenon {

// Gather, GatherElements: which axis the indices are for.
struct GatherParams {
  int64_t axis = 0;
  void fields(FieldVisitor& v) { v.field("axis", axis); }
};

struct GatherNDParams {
  int64_t batch_dims = 0;
  void fields(FieldVisitor& v) { v.field("batch_dims", batch_dims); }
};

}  // namespace tenon
