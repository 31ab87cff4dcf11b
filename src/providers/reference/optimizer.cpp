#include "ops/optimizer.h"

#include <array>
#include <cmath>

#include "base/exact_math.h"
#include "providers/reference/element_access.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// Inputs are R, T, then n tensors, their gradients and their states, group by group; outputs are tensors and states.
// step(x, gradient, states) replaces x and the states of one element.
template <size_t kStates, class Step>
Status optimize(KernelContext& c, Step step) {
  const size_t n = (c.input_count() - 2) / (2 + kStates);
  for (size_t tensor = 0; tensor < n; ++tensor) {
    auto input = [&](size_t group) -> const TensorView& { return c.in(2 + group * n + tensor); };
    for_each_index(input(0).size(), [&](int64_t i) {
      double x = number_at(input(0), i);
      std::array<double, kStates> states;
      for (size_t s = 0; s < kStates; ++s) states[s] = number_at(input(2 + s), i);
      step(x, number_at(input(1), i), states);
      if (c.wants(tensor)) store_number(c.out(tensor), i, x);
      for (size_t s = 0; s < kStates; ++s) {
        const size_t out = (1 + s) * n + tensor;
        if (c.wants(out)) store_number(c.out(out), i, states[s]);
      }
    });
  }
  return {};
}

Status adagrad(KernelContext& c) {
  const auto& p = c.params<AdagradParams>();
  const double rate = number_at(c.in(0), 0) / (1 + number_at(c.in(1), 0) * p.decay_factor);
  return optimize<1>(c, [&](double& x, double gradient, std::array<double, 1>& state) {
    const double g = p.norm_coefficient * x + gradient;
    state[0] += g * g;
    x -= rate * g / (std::sqrt(state[0]) + p.epsilon);
  });
}

Status adam(KernelContext& c) {
  const auto& p = c.params<AdamParams>();
  const double steps = number_at(c.in(1), 0), alpha = p.alpha, beta = p.beta;
  double rate = number_at(c.in(0), 0);
  if (steps > 0) rate *= std::sqrt(1 - exact::pow(beta, steps)) / (1 - exact::pow(alpha, steps));
  return optimize<2>(c, [&](double& x, double gradient, std::array<double, 2>& state) {
    const double g = p.norm_coefficient * x + gradient;
    state[0] = alpha * state[0] + (1 - alpha) * g;
    state[1] = beta * state[1] + (1 - beta) * g * g;
    x = (1 - p.norm_coefficient_post) * (x - rate * state[0] / (std::sqrt(state[1]) + p.epsilon));
  });
}

Status momentum(KernelContext& c) {
  const auto& p = c.params<MomentumParams>();
  const double rate = number_at(c.in(0), 0), beta = number_at(c.in(1), 0) > 0 ? p.beta : 1;
  const bool nesterov = p.mode == "nesterov";
  return optimize<1>(c, [&](double& x, double gradient, std::array<double, 1>& state) {
    const double g = p.norm_coefficient * x + gradient;
    state[0] = p.alpha * state[0] + beta * g;
    x -= rate * (nesterov ? g + p.alpha * state[0] : state[0]);
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Adagrad>() {
  return adagrad;
}

template <>
KernelFunction reference_kernel<OpId::Adam>() {
  return adam;
}

template <>
KernelFunction reference_kernel<OpId::Momentum>() {
  return momentum;
}

}  // namespace tenon
