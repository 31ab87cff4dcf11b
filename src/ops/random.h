#pragma once

#include "ops/op.h"

namespace tenon {

struct RandomNormalParams {
  float mean = 0, scale = 1;
  std::optional<float> seed;
  DType dtype = DType::Undefined;  // Undefined: float, or for the Like form the input's type
  std::vector<int64_t> shape;      // not for the Like form
  void fields(FieldVisitor& v) {
    v.field("mean", mean);
    v.field("scale", scale);
    v.field("seed", seed);
    v.field("dtype", dtype);
    v.field("shape", shape);
  }
};

struct RandomUniformParams {
  float low = 0, high = 1;
  std::optional<float> seed;
  DType dtype = DType::Undefined;
  std::vector<int64_t> shape;
  void fields(FieldVisitor& v) {
    v.field("low", low);
    v.field("high", high);
    v.field("seed", seed);
    v.field("dtype", dtype);
    v.field("shape", shape);
  }
};

struct BernoulliParams {
  std::optional<float> seed;
  DType dtype = DType::Undefined;  // Undefined: the input's type
  void fields(FieldVisitor& v) {
    v.field("seed", seed);
    v.field("dtype", dtype);
  }
};

struct MultinomialParams {
  std::optional<float> seed;
  DType dtype = DType::Int32;
  int64_t sample_size = 1;
  void fields(FieldVisitor& v) {
    v.field("seed", seed);
    v.field("dtype", dtype);
    v.field("sample_size", sample_size);
  }
};

struct DropoutParams {
  std::optional<int64_t> seed;
  void fields(FieldVisitor& v) { v.field("seed", seed); }
};

}  // namespace tenon
