#include "ops/fused_activation.h"

#include <array>

namespace tenon {

namespace {

constexpr std::array kNames = {
#define X(name, text) text,
    TENON_FUSED_ACTIVATIONS(X)
#undef X
};

}  // namespace

const char* activation_name(ActivationKind kind) { return kNames[static_cast<size_t>(kind)]; }

Result<FusedActivation> fused_activation(const ActivationParams& params) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (params.activation == kNames[i])
      return FusedActivation{static_cast<ActivationKind>(i), params.activation_alpha, params.activation_beta};
  return invalid_model("'{}' is no activation that kernels apply to their result", params.activation);
}

}  // namespace tenon
