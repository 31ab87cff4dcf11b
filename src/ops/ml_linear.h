#pragma once

#include "ops/ml_rules.h"

namespace tenon {

// Inputs: X, coefficients [classes, features], intercepts [classes].
struct LinearClassifierParams {
  ClassLabels labels;
  std::string post_transform = "NONE";
  void fields(FieldVisitor& v) {
    v.field("classlabels_ints", labels.ints);
    v.field("classlabels_strings", labels.strings);
    v.field("post_transform", post_transform);
  }
};

// Inputs: X, coefficients [targets, features], intercepts [targets] (may be absent).
struct LinearRegressorParams {
  std::string post_transform = "NONE";
  void fields(FieldVisitor& v) { v.field("post_transform", post_transform); }
};

}  // namespace tenon
