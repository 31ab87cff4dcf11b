#pragma once

#include "ops/ml_rules.h"

namespace tenon {

// The kernel function between two vectors a and b.
struct SvmKernelParams {
  std::string kernel_type = "LINEAR";
  std::vector<float> kernel_params;  // gamma, coef0, degree; zeros when empty
  void fields(FieldVisitor& v) {
    v.field("kernel_type", kernel_type);
    v.field("kernel_params", kernel_params);
  }
};

// Inputs: X, coefficients, rho, support_vectors, prob_a, prob_b (the last three may be absent).
// With support vectors [vectors, features], coefficients are [classes - 1, vectors] and each pair of classes has its
// own rho. Without, the classifier is linear: coefficients are [classes, features] and rho[0] is for all.
struct SvmClassifierParams {
  ClassLabels labels;
  std::vector<int64_t> vectors_per_class;
  SvmKernelParams kernel;
  std::string post_transform = "NONE";
  void fields(FieldVisitor& v) {
    v.field("classlabels_ints", labels.ints);
    v.field("classlabels_strings", labels.strings);
    v.field("vectors_per_class", vectors_per_class);
    kernel.fields(v);
    v.field("post_transform", post_transform);
  }
};

// Inputs: X, coefficients, rho, support_vectors (may be absent: the coefficients are then one per feature).
struct SvmRegressorParams {
  SvmKernelParams kernel;
  bool one_class = false;  // the sign of the result instead of the result
  std::string post_transform = "NONE";
  void fields(FieldVisitor& v) {
    kernel.fields(v);
    v.field("one_class", one_class);
    v.field("post_transform", post_transform);
  }
};

}  // namespace tenon
