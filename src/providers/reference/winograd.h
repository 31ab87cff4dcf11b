#pragma once

#include "ops/packed.h"
#include "providers/reference/convolution.h"

namespace tenon {

// PackPanels and PackedConv in the Winograd layouts, computed in double.
void pack_winograd(const TensorView& weight, const float* scale, PackedLayout layout, std::span<float> to);
// y[n, m, ...] += the convolution of dense x with packed weights.
void convolve_winograd(const ConvGeometry& geometry, PackedLayout layout, const double* x, const float* packed,
                       double* y);

}  // namespace tenon
