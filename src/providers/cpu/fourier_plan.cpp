#include "providers/cpu/fourier_plan.h"

#include <bit>
#include <complex>
#include <numbers>
#include <utility>

#include "base/exact_math.h"

namespace tenon {

namespace {

constexpr int kRadices[] = {4, 2, 3, 5, 7};

// exp(-2 pi i k / n), exact at multiples of a quarter turn.
std::complex<double> turn(int64_t k, int64_t n) {
  k %= n;
  if (4 * k % n == 0) {
    const std::complex<double> quarters[] = {{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
    return quarters[4 * k / n];
  }
  const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {exact::cos(angle), exact::sin(angle)};
}

void append(std::vector<float>& list, std::complex<double> value) {
  list.push_back(static_cast<float>(value.real()));
  list.push_back(static_cast<float>(value.imag()));
}

// What remains of a length without its small factors.
int64_t without_small_factors(int64_t n) {
  for (const int radix : kRadices)
    while (n % radix == 0) n /= radix;
  return n;
}

FourierPasses plan_passes(int64_t length) {
  FourierPasses plan;
  plan.length = length;
  int64_t rest = length, done = 1;
  for (const int radix : kRadices) {
    for (; rest % radix == 0; rest /= radix, done *= radix) {
      const int64_t count = rest / radix;
      plan.passes.push_back({radix, count, done, plan.factors.size()});
      for (int64_t p = 0; p < count; ++p)
        for (int k = 1; k < radix; ++k) append(plan.factors, turn(p * k, rest));
    }
  }
  return plan;
}

// For a power of two.
std::vector<std::complex<double>> transformed(const std::vector<std::complex<double>>& x) {
  const size_t n = x.size();
  if (n == 1) return x;
  std::vector<std::complex<double>> even(n / 2), odd(n / 2), y(n);
  for (size_t i = 0; i < n; ++i) (i % 2 ? odd : even)[i / 2] = x[i];
  even = transformed(even);
  odd = transformed(odd);
  for (size_t k = 0; k < n / 2; ++k) {
    const auto turned = turn(static_cast<int64_t>(k), static_cast<int64_t>(n)) * odd[k];
    y[k] = even[k] + turned;
    y[k + n / 2] = even[k] - turned;
  }
  return y;
}

// t * k = (t^2 + k^2 - (k - t)^2) / 2 makes a convolution of the sum that defines the transform.
void plan_convolution(FourierPlan& plan) {
  const int64_t n = plan.length, size = plan.passes.length;
  std::vector<std::complex<double>> inverse(static_cast<size_t>(size));
  for (int64_t t = 0; t < n; ++t) {
    const std::complex<double> value = turn(t * t % (2 * n), 2 * n);
    append(plan.chirp, value);
    inverse[static_cast<size_t>(t)] = std::conj(value);
    inverse[static_cast<size_t>((size - t) % size)] = std::conj(value);
  }
  // The way back divides by the size.
  for (const auto& value : transformed(inverse)) append(plan.convolved, value / static_cast<double>(size));
}

FourierSignals run_passes(const FourierPasses& plan, const FourierFunctions& functions, int64_t width,
                          FourierSignals signals, FourierSignals other) {
  for (const FourierPass& pass : plan.passes) {
    functions.pass(pass, plan.factors.data() + pass.factors, width, signals, other);
    std::swap(signals, other);
  }
  return signals;
}

// The same transform backwards but for a division.
FourierSignals exchanged(FourierSignals s) { return {s.imaginary, s.real}; }

}  // namespace

FourierPlan plan_fourier(int64_t length) {
  FourierPlan plan;
  plan.length = length;
  if (without_small_factors(length) == 1) {
    plan.passes = plan_passes(length);
    return plan;
  }
  plan.passes = plan_passes(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1))));
  plan_convolution(plan);
  return plan;
}

FourierSignals transform_forward(const FourierPlan& plan, const FourierFunctions& functions, int64_t width,
                                 FourierSignals signals, FourierSignals other) {
  if (!plan.is_convolution()) return run_passes(plan.passes, functions, width, signals, other);
  functions.multiply(plan.chirp.data(), plan.length, width, signals);
  const FourierSignals spectrum = run_passes(plan.passes, functions, width, signals, other);
  functions.multiply(plan.convolved.data(), plan.passes.length, width, spectrum);
  const FourierSignals free = spectrum.real == signals.real ? other : signals;
  const FourierSignals result =
      exchanged(run_passes(plan.passes, functions, width, exchanged(spectrum), exchanged(free)));
  functions.multiply(plan.chirp.data(), plan.length, width, result);
  return result;
}

}  // namespace tenon
