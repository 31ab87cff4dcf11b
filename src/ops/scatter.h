#pragma once

#include "ops/op.h"

namespace tenon {

// ScatterElements, ScatterND (which has no axis): how an update meets what is already there.
struct ScatterElementsParams {
  int64_t axis = 0;
  std::string reduction = "none";  // none, add, mul, max, min
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("reduction", reduction);
  }
};

struct ScatterNDParams {
  std::string reduction = "none";
  void fields(FieldVisitor& v) { v.field("reduction", reduction); }
};

struct TensorScatterParams {
  int64_t axis = -2;
  std::string mode = "linear";  // linear, circular
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("mode", mode);
  }
};

}  // namespace tenon
