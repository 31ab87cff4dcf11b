#pragma once

#include <cmath>

#include "ops/op.h"

namespace tenon {

struct RecurrentParams {
  std::vector<std::string> activations;
  std::vector<float> activation_alpha, activation_beta;
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t layout = 0;  // 0: sequences first, 1: batch first
  void fields(FieldVisitor& v) {
    v.field("activations", activations);
    v.field("activation_alpha", activation_alpha);
    v.field("activation_beta", activation_beta);
    v.field("clip", clip);
    v.field("direction", direction);
    v.field("hidden_size", hidden_size);
    v.field("layout", layout);
  }
};

struct RNNParams {
  RecurrentParams common;
  void fields(FieldVisitor& v) { common.fields(v); }
};

struct GRUParams {
  RecurrentParams common;
  bool linear_before_reset = false;
  void fields(FieldVisitor& v) {
    common.fields(v);
    v.field("linear_before_reset", linear_before_reset);
  }
};

struct LSTMParams {
  RecurrentParams common;
  bool input_forget = false;
  void fields(FieldVisitor& v) {
    common.fields(v);
    v.field("input_forget", input_forget);
  }
};

// An activation with its constants, as recurrent layers name them.
struct RecurrentActivation {
  double (*function)(double x, double alpha, double beta) = nullptr;
  double alpha = 0.0, beta = 0.0;
  double operator()(double x) const { return function(x, alpha, beta); }
};

// 1 or 2.
Result<int64_t> direction_count(const RecurrentParams& params);
// The activations of all directions: those named, or the defaults for each. alpha and beta are consumed in order by
// the functions that take them.
Result<std::vector<RecurrentActivation>> recurrent_activations(const RecurrentParams& params,
                                                               std::vector<std::string> defaults);

}  // namespace tenon
