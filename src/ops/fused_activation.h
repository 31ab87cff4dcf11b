#pragma once

#include "ops/op.h"

namespace tenon {

// Activations that a kernel applies to its result before it is stored. alpha and beta are the function's constants,
// named as the op of that name has them.
#define TENON_FUSED_ACTIVATIONS(X)                                 \
  X(None, "none")                                                  \
  X(Relu, "relu")                                                  \
  X(Clip, "clip")            /* alpha: least, beta: greatest */    \
  X(LeakyRelu, "leaky_relu") /* alpha: slope below zero */         \
  X(Elu, "elu")              /* alpha * (exp(x) - 1) below zero */ \
  X(Sigmoid, "sigmoid")                                            \
  X(HardSigmoid, "hard_sigmoid") /* alpha * x + beta in [0, 1] */  \
  X(Tanh, "tanh")                                                  \
  X(Gelu, "gelu")                                                  \
  X(GeluTanh, "gelu_tanh")                                         \
  X(Silu, "silu") /* x * sigmoid(alpha * x) */                     \
  X(HardSwish, "hard_swish")

enum class ActivationKind : uint8_t {
#define X(name, text) name,
  TENON_FUSED_ACTIVATIONS(X)
#undef X
};

template <>
struct Choices<ActivationKind> {
  static constexpr const char* names[] = {
#define X(name, text) text,
      TENON_FUSED_ACTIVATIONS(X)
#undef X
  };
};

struct FusedActivation {
  ActivationKind kind = ActivationKind::None;
  float alpha = 0, beta = 0;
  bool operator==(const FusedActivation&) const = default;
  void fields(FieldVisitor& v) {
    v.field("activation", kind);
    v.field("activation_alpha", alpha);
    v.field("activation_beta", beta);
  }
};

}  // namespace tenon
