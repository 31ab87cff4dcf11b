#pragma once

#include "ops/convolution.h"
#include "providers/provider.h"

namespace tenon {

// The extents of one convolution. Checked by the ops' rules, so kernels may index by them.
struct ConvGeometry {
  int64_t batch = 0, group = 1;
  int64_t dense_channels = 0, strided_channels = 0;  // per group; dense is the side a window's positions count
  std::vector<int64_t> dense, strided;               // spatial extents
  Window window;                                     // with explicit padding

  // x [N, C, ...] * w [M, C / group, ...] -> y [N, M, ...].
  static Result<ConvGeometry> of(Dims x, Dims w, Dims y, const ConvParams& params);
  // The transpose: x [N, C, ...] * w [C, outputs of a group, kernel...] -> y [N, M, ...].
  static Result<ConvGeometry> of_transpose(Dims x, int64_t outputs, Dims kernel, Dims y,
                                           const ConvTransposeParams& params);
};

// y[n, m, ...] += sum of x[n, c, ...] * w[m, c, tap], all dense doubles. Quantized convolutions pass exact integers.
Status convolve(const ConvGeometry& geometry, const double* x, const double* w, double* y);
// The transpose of that: y[n, m, ...] += sum of x[n, c, ...] * w[c, m, tap].
Status convolve_transposed(const ConvGeometry& geometry, const double* x, const double* w, double* y);

}  // namespace tenon
