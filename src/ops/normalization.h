#pragma once

#include "ops/op.h"

namespace tenon {

struct BatchNormalizationParams {
  float epsilon = 1e-5f, momentum = 0.9f;
  bool training_mode = false;
  void fields(FieldVisitor& v) {
    v.field("epsilon", epsilon);
    v.field("momentum", momentum);
    v.field("training_mode", training_mode);
  }
};

struct InstanceNormalizationParams {
  float epsilon = 1e-5f;
  void fields(FieldVisitor& v) { v.field("epsilon", epsilon); }
};

struct GroupNormalizationParams {
  float epsilon = 1e-5f;
  int64_t num_groups = 0;
  DType stash_type = DType::Float32;
  void fields(FieldVisitor& v) {
    v.field("epsilon", epsilon);
    v.field("num_groups", num_groups);
    v.field("stash_type", stash_type);
  }
};

// Also for RMSNormalization: over the axes from `axis` on.
struct LayerNormalizationParams {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  DType stash_type = DType::Float32;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("epsilon", epsilon);
    v.field("stash_type", stash_type);
  }
};

struct LpNormalizationParams {
  int64_t axis = -1, p = 2;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("p", p);
  }
};

struct LRNParams {
  float alpha = 1e-4f, beta = 0.75f, bias = 1.0f;
  int64_t size = 0;
  void fields(FieldVisitor& v) {
    v.field("alpha", alpha);
    v.field("beta", beta);
    v.field("bias", bias);
    v.field("size", size);
  }
};

struct MeanVarianceNormalizationParams {
  std::vector<int64_t> axes{0, 2, 3};
  bool normalize_variance = true;  // false: only the mean is taken away
  void fields(FieldVisitor& v) {
    v.field("axes", axes);
    v.field("normalize_variance", normalize_variance);
  }
};

}  // namespace tenon
