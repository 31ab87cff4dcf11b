#pragma once

#include "ops/op.h"

namespace tenon {

// Affine (a x + b), ScaledTanh (a tanh(b x)) and ParametricSoftplus (a softplus(b x)): ops of early exporters.
struct AlphaBetaParams {
  float alpha = 1, beta = 0;
  void fields(FieldVisitor& v) {
    v.field("alpha", alpha);
    v.field("beta", beta);
  }
};

// ImageScaler: scale * x plus one bias per channel.
struct ImageScalerParams {
  float scale = 1;
  std::vector<float> bias;
  void fields(FieldVisitor& v) {
    v.field("scale", scale);
    v.field("bias", bias);
  }
};

}  // namespace tenon
