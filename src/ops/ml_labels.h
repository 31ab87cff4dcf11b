#pragma once

#include "ops/op.h"

namespace tenon {

// keys[i] becomes values[i] (the first of equal keys counts), everything else the default.
struct LabelEncoderParams {
  Tensor keys_tensor, values_tensor, default_tensor;
  void fields(FieldVisitor& v) {
    v.field("keys_tensor", keys_tensor);
    v.field("values_tensor", values_tensor);
    v.field("default_tensor", default_tensor);
  }
};

struct OneHotEncoderParams {
  std::vector<int64_t> cats_int64s;
  std::vector<std::string> cats_strings;
  bool zeros = true;  // an unknown category gives zeros; false: it is an error
  void fields(FieldVisitor& v) {
    v.field("cats_int64s", cats_int64s);
    v.field("cats_strings", cats_strings);
    v.field("zeros", zeros);
  }
};

}  // namespace tenon
