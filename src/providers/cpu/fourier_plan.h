#pragma once

#include <cstdint>
#include <vector>

#include "providers/provider.h"

// Fast Fourier transforms of signals that lie side by side: element t of signal i at [t * width + i], real and
// imaginary parts apart.
namespace tenon {

// One pass of a transform: `count` groups, each of as many butterflies as lie side by side.
struct FourierPass {
  int radix = 2;
  int64_t count = 1, side_by_side = 1;
  size_t factors = 0;  // where those of the pass begin: radix - 1 complex numbers for each group
};

// A transform whose length has small factors only.
struct FourierPasses {
  int64_t length = 1;
  std::vector<FourierPass> passes;
  std::vector<float> factors;  // real and imaginary parts in turns
};

struct FourierPlan {
  int64_t length = 1;
  FourierPasses passes;  // of the length itself, or of a convolution that stands for the transform
  // Lengths with other factors: multiplied by a chirp, convolved with its inverse, multiplied again.
  std::vector<float> chirp, convolved;
  bool is_convolution() const { return !chirp.empty(); }
};

FourierPlan plan_fourier(int64_t length);

// Real and imaginary parts of signals.
struct FourierSignals {
  float *real = nullptr, *imaginary = nullptr;
};

struct FourierFunctions {
  // One pass over `width` signals, from one place to another.
  void (*pass)(const FourierPass& pass, const float* factors, int64_t width, FourierSignals from, FourierSignals to);
  // Multiplies element t of every signal by factor t, a complex number.
  void (*multiply)(const float* factors, int64_t count, int64_t width, FourierSignals signals);
};
const FourierFunctions& fourier_functions(Isa isa);

// Transforms `width` signals; both places hold passes.length elements of each, and the signals have zeros behind the
// plan's length. The result is where it returns.
FourierSignals transform_forward(const FourierPlan& plan, const FourierFunctions& functions, int64_t width,
                                 FourierSignals signals, FourierSignals other);

}  // namespace tenon
