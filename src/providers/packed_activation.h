#pragma once

#include "ops/packed.h"
#include "providers/provider.h"

namespace tenon {

// The activation of a packed product or convolution, with the bounds that come as inputs.
inline Result<FusedActivation> packed_activation(const KernelContext& c, const ActivationParams& params) {
  TN_ASSIGN_OR_RETURN(FusedActivation activation, fused_activation(params));
  if (c.has(kPackedLeast)) activation.alpha = c.in(kPackedLeast).as<float>()[0];
  if (c.has(kPackedGreatest)) activation.beta = c.in(kPackedGreatest).as<float>()[0];
  return activation;
}

}  // namespace tenon
