#pragma once

#include "ops/packed.h"
#include "providers/provider.h"

namespace tenon {

// The activation of a packed product or convolution, with the bounds that come as inputs.
inline FusedActivation with_given_bounds(const KernelContext& c, FusedActivation activation) {
  if (c.has(kPackedLeast)) activation.alpha = c.in(kPackedLeast).as<float>()[0];
  if (c.has(kPackedGreatest)) activation.beta = c.in(kPackedGreatest).as<float>()[0];
  return activation;
}

}  // namespace tenon
