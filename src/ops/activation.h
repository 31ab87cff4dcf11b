#pragma once

#include "ops/op.h"

namespace tenon {

struct EluParams {
  float alpha = 1;
  void fields(FieldVisitor& v) { v.field("alpha", alpha); }
};
using CeluParams = EluParams;
using SwishParams = EluParams;
using ThresholdedReluParams = EluParams;

struct LeakyReluParams {
  float alpha = 0.01f;
  void fields(FieldVisitor& v) { v.field("alpha", alpha); }
};

struct GeluParams {
  std::string approximate = "none";
  void fields(FieldVisitor& v) { v.field("approximate", approximate); }
};

struct HardSigmoidParams {
  float alpha = 0.2f, beta = 0.5f;
  void fields(FieldVisitor& v) {
    v.field("alpha", alpha);
    v.field("beta", beta);
  }
};

struct SeluParams {
  float alpha = 1.67326319217681884765625f, gamma = 1.05070102214813232421875f;
  void fields(FieldVisitor& v) {
    v.field("alpha", alpha);
    v.field("gamma", gamma);
  }
};

struct ShrinkParams {
  float bias = 0, lambd = 0.5f;
  void fields(FieldVisitor& v) {
    v.field("bias", bias);
    v.field("lambd", lambd);
  }
};

}  // namespace tenon
