#pragma once

#include "ops/fused_activation.h"
#include "providers/cpu/window_row.h"
#include "providers/provider.h"

namespace tenon {

// A row of results of a convolution where each channel reads itself alone.
struct DepthwiseRow : WindowRow {
  // The taps of each of the window's rows: 16 numbers for each column.
  const float* weights[kMostWindowRows];
  const float* bias = nullptr;    // 16, or null
  const float* addend = nullptr;  // as y, or null
  // Applied if applied_in_registers() says so.
  const FusedActivation* activation = nullptr;
};

// y = activation(bias + addend + sum of products).
using DepthwiseRowFunction = void (*)(const DepthwiseRow&);
DepthwiseRowFunction depthwise_row_function(Isa isa);

}  // namespace tenon
