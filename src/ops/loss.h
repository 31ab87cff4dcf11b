#pragma once

#include "ops/op.h"

namespace tenon {

// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
struct LossParams {
  std::string reduction = "mean";  // none, sum or mean
  std::optional<int64_t> ignore_index;
  void fields(FieldVisitor& v) {
    v.field("reduction", reduction);
    v.field("ignore_index", ignore_index);
  }
};

}  // namespace tenon
