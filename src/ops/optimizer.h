#pragma once

#include "ops/op.h"

namespace tenon {

struct AdagradParams {
  float decay_factor = 0, epsilon = 1e-6f, norm_coefficient = 0;
  void fields(FieldVisitor& v) {
    v.field("decay_factor", decay_factor);
    v.field("epsilon", epsilon);
    v.field("norm_coefficient", norm_coefficient);
  }
};

struct AdamParams {
  float alpha = 0.9f, beta = 0.999f, epsilon = 1e-6f, norm_coefficient = 0, norm_coefficient_post = 0;
  void fields(FieldVisitor& v) {
    v.field("alpha", alpha);
    v.field("beta", beta);
    v.field("epsilon", epsilon);
    v.field("norm_coefficient", norm_coefficient);
    v.field("norm_coefficient_post", norm_coefficient_post);
  }
};

struct MomentumParams {
  float alpha = 0, beta = 0, norm_coefficient = 0;
  std::string mode;  // standard or nesterov
  void fields(FieldVisitor& v) {
    v.field("alpha", alpha);
    v.field("beta", beta);
    v.field("norm_coefficient", norm_coefficient);
    v.field("mode", mode);
  }
};

}  // namespace tenon
