#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Points that each take the same number of pixels: tap t of point i at [t * stride + i]. Whole vectors of points are
// read; pixels of weight 0 are left out, whatever they are.
struct GridPoints {
  const int32_t* offsets = nullptr;
  const float* weights = nullptr;
  int64_t stride = 0, taps = 0, count = 0;
};

// to[i] = the weighted sum of the pixels of point i.
using SamplePointsFunction = void (*)(const GridPoints& points, const float* image, float* to);
SamplePointsFunction sample_points_function(Isa isa);

}  // namespace tenon
