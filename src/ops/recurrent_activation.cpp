#include <algorithm>
#include <cctype>

#include "ops/recurrent.h"

#include "base/exact_math.h"

namespace tenon {

namespace {

struct NamedActivation {
  std::string_view name;  // lower case
  int constants;          // 0: none, 1: alpha, 2: alpha and beta
  RecurrentActivation activation;
};

double sigmoid(double x) { return 1.0 / (1.0 + exact::exp(-x)); }

using enum RecurrentFunction;
const NamedActivation kActivations[] = {
    {"tanh", 0, {Tanh, [](double x, double, double) { return exact::tanh(x); }}},
    {"sigmoid", 0, {Sigmoid, [](double x, double, double) { return sigmoid(x); }}},
    {"relu", 0, {Relu, [](double x, double, double) { return x < 0 ? 0.0 : x; }}},
    {"softsign", 0, {Softsign, [](double x, double, double) { return x / (1.0 + std::abs(x)); }}},
    {"softplus",
     0,
     {Softplus, [](double x, double, double) { return std::max(x, 0.0) + exact::log1p(exact::exp(-std::abs(x))); }}},
    {"leakyrelu", 1, {LeakyRelu, [](double x, double alpha, double) { return x < 0 ? alpha * x : x; }, 0.01}},
    {"thresholdedrelu", 1, {ThresholdedRelu, [](double x, double alpha, double) { return x > alpha ? x : 0.0; }, 1.0}},
    {"elu", 1, {Elu, [](double x, double alpha, double) { return x < 0 ? alpha * exact::expm1(x) : x; }, 1.0}},
    {"affine", 2, {Affine, [](double x, double alpha, double beta) { return alpha * x + beta; }, 1.0, 0.0}},
    {"scaledtanh",
     2,
     {ScaledTanh, [](double x, double alpha, double beta) { return alpha * exact::tanh(beta * x); }, 1.0, 1.0}},
    {"hardsigmoid",
     2,
     {HardSigmoid, [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }, 0.2, 0.5}},
};

Result<NamedActivation> find_activation(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
  for (const NamedActivation& known : kActivations)
    if (known.name == name) return known;
  return invalid_model("unknown activation '{}'", name);
}

}  // namespace

std::vector<std::string> default_activations(RecurrentCell cell) {
  if (cell == RecurrentCell::RNN) return {"Tanh"};
  if (cell == RecurrentCell::GRU) return {"Sigmoid", "Tanh"};
  return {"Sigmoid", "Tanh", "Tanh"};
}

Result<int64_t> direction_count(const RecurrentParams& p) {
  if (p.direction == "bidirectional") return 2;
  // Version 1 of GRU spells its default without the first r.
  if (p.direction == "forward" || p.direction == "reverse" || p.direction == "foward") return 1;
  return invalid_model("direction is '{}'; it must be 'forward', 'reverse' or 'bidirectional'", p.direction);
}

Result<std::vector<RecurrentActivation>> recurrent_activations(const RecurrentParams& p,
                                                               std::vector<std::string> defaults) {
  TN_ASSIGN_OR_RETURN(int64_t directions, direction_count(p));
  const size_t needed = defaults.size() * static_cast<size_t>(directions);
  std::vector<std::string> names = p.activations;
  for (int64_t d = 0; p.activations.empty() && d < directions; ++d)
    names.insert(names.end(), defaults.begin(), defaults.end());
  // RNN declares two default activations and uses one for each direction there is.
  if (names.size() > needed && std::ranges::equal(names, std::vector<std::string>{"Tanh", "Tanh"}))
    names.resize(needed);
  if (names.size() != needed) return invalid_model("'activations' has {} entries but needs {}", names.size(), needed);
  if (p.activation_alpha.size() > needed || p.activation_beta.size() > needed)
    return invalid_model("there are {} alpha and {} beta values for {} activations", p.activation_alpha.size(),
                         p.activation_beta.size(), needed);
  std::vector<RecurrentActivation> result;
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    TN_ASSIGN_OR_RETURN(NamedActivation known, find_activation(name));
    if (known.constants > 0 && alpha < p.activation_alpha.size())
      known.activation.alpha = static_cast<double>(p.activation_alpha[alpha++]);
    if (known.constants > 1 && beta < p.activation_beta.size())
      known.activation.beta = static_cast<double>(p.activation_beta[beta++]);
    result.push_back(known.activation);
  }
  return result;
}

}  // namespace tenon
