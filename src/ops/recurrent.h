#pragma once

#include <cmath>

#include "ops/packed.h"

namespace tenon {

enum class RecurrentCell : uint8_t { RNN, GRU, LSTM };
constexpr int64_t gate_count(RecurrentCell cell) {
  return cell == RecurrentCell::RNN ? 1 : cell == RecurrentCell::GRU ? 3 : 4;
}

// How W and R are laid out.
enum class RecurrentWeights : uint8_t {
  Rows,    // [directions, gates * hidden_size, K], as ONNX has them
  Panels,  // [directions * gates, ceil(hidden_size / 16), K, 16], in compiled plans; hidden_size must be given
};
template <>
struct Choices<RecurrentWeights> {
  static constexpr const char* names[] = {"rows", "panels16"};
};

struct RecurrentParams {
  std::vector<std::string> activations;
  std::vector<float> activation_alpha, activation_beta;
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t layout = 0;  // 0: sequences first, 1: batch first
  RecurrentWeights weights = RecurrentWeights::Rows;
  void fields(FieldVisitor& v) {
    v.field("activations", activations);
    v.field("activation_alpha", activation_alpha);
    v.field("activation_beta", activation_beta);
    v.field("clip", clip);
    v.field("direction", direction);
    v.field("hidden_size", hidden_size);
    v.field("layout", layout);
    v.field("weights", weights);
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

// A layer of any of these ops.
struct RecurrentLayer {
  RecurrentCell cell = RecurrentCell::RNN;
  RecurrentParams common;
  bool linear_before_reset = false;  // of a GRU
  bool input_forget = false;         // of an LSTM
};
RecurrentLayer recurrent_layer(const Params& params);

enum class RecurrentFunction : uint8_t {
  Tanh,
  Sigmoid,
  Relu,
  Softsign,
  Softplus,
  LeakyRelu,
  ThresholdedRelu,
  Elu,
  Affine,
  ScaledTanh,
  HardSigmoid,
};

// An activation with its constants, as recurrent layers name them.
struct RecurrentActivation {
  RecurrentFunction kind = RecurrentFunction::Tanh;
  double (*function)(double x, double alpha, double beta) = nullptr;
  double alpha = 0.0, beta = 0.0;
  double operator()(double x) const { return function(x, alpha, beta); }
};

// Of one direction when a layer names none.
std::vector<std::string> default_activations(RecurrentCell cell);
// 1 or 2.
Result<int64_t> direction_count(const RecurrentParams& params);
// The activations of all directions: those named, or the defaults for each. alpha and beta are consumed in order by
// the functions that take them.
Result<std::vector<RecurrentActivation>> recurrent_activations(const RecurrentParams& params,
                                                               std::vector<std::string> defaults);

}  // namespace tenon
