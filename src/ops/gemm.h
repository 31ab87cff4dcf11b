#pragma once

#include "ops/op.h"

namespace tenon {

// alpha * A' * B' + beta * C, where ' is the transpose that transA and transB ask for.
struct GemmParams {
  float alpha = 1.0f, beta = 1.0f;
  bool transA = false, transB = false;
  void fields(FieldVisitor& v) {
    v.field("alpha", alpha);
    v.field("beta", beta);
    v.field("transA", transA);
    v.field("transB", transB);
  }
};

}  // namespace tenon
