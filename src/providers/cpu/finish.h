#pragma once

#include <cstdint>

#include "ops/fused_activation.h"
#include "providers/provider.h"

namespace tenon {

// What happens to sums on their way to the output.
struct Finish {
  const float* bias = nullptr;  // null: none
  int64_t bias_step = 1;        // 0: one number for all, 1: one for each
  FusedActivation activation;
  const float* addend = nullptr;  // one for each, or null
};

// out[i] = activation(in[i] + bias[i * bias_step] + addend[i]). `in` may be read up to the next multiple of 16.
using FinishFunction = void (*)(const float* in, float* out, int64_t count, const Finish& finish);
FinishFunction finish_function(Isa isa);

// Whether kernels apply the activation to sums in registers (activate_simd.h), before they store them.
constexpr bool applied_in_registers(ActivationKind kind) {
  return kind == ActivationKind::None || kind == ActivationKind::Relu || kind == ActivationKind::Clip ||
         kind == ActivationKind::HardSwish;
}

}  // namespace tenon
