#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Weighted sums of neighbours in rows, in the order of rows and taps. A tap whose weight is 0 does not count, whatever
// its element is.
struct ResampleFunctions {
  // out[i] = sum over r of weights[r] * rows[r][i]; no weight is 0.
  void (*blend)(const float* const* rows, const float* weights, int64_t row_count, int64_t count, float* out);
  // out[i] = sum over t of weights[t * stride + i] * row[index[t * stride + i]]. Tables may be read up to the next
  // multiple of 16; indices there must be valid too.
  void (*sample)(const float* row, const int32_t* index, const float* weights, int64_t taps, int64_t stride,
                 int64_t count, float* out);
};
const ResampleFunctions& resample_functions(Isa isa);

}  // namespace tenon
