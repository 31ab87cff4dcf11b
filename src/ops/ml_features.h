#pragma once

#include "ops/op.h"

namespace tenon {

struct BinarizerParams {
  float threshold = 0;
  void fields(FieldVisitor& v) { v.field("threshold", threshold); }
};

struct FeatureVectorizerParams {
  std::vector<int64_t> inputdimensions;  // features taken of each input; empty: all
  void fields(FieldVisitor& v) { v.field("inputdimensions", inputdimensions); }
};

// Inputs: X, the values to put in (one, or one per feature): float for float X, int64 for integer X.
struct ImputerParams {
  float replaced_value_float = 0;
  int64_t replaced_value_int64 = 0;
  void fields(FieldVisitor& v) {
    v.field("replaced_value_float", replaced_value_float);
    v.field("replaced_value_int64", replaced_value_int64);
  }
};

struct NormalizerParams {
  std::string norm = "MAX";
  void fields(FieldVisitor& v) { v.field("norm", norm); }
};

}  // namespace tenon
