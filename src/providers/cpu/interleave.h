#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Rows of results that lie between each other in the output: to[i * step + row] = from[row * from_stride + i].
struct Interleave {
  const float* from = nullptr;
  int64_t from_stride = 0, rows = 0, count = 0;
  float* to = nullptr;
  int64_t step = 1;
};

using InterleaveFunction = void (*)(const Interleave&);
InterleaveFunction interleave_function(Isa isa);

}  // namespace tenon
