#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// out[i] = sum over taps of in[offsets[t] + i] * weights[t], in the order of taps. Reads and writes whole vectors: up
// to the next multiple of 16 of `count`.
using DepthwiseFunction = void (*)(const float* in, const int32_t* offsets, const float* weights, int64_t taps,
                                   float* out, int64_t count);
DepthwiseFunction depthwise_function(Isa isa);

}  // namespace tenon
