#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Neighbouring columns of a row that is being gathered.
struct GatherPiece {
  int32_t to = 0, count = 0;
  int64_t from = -1;  // offset in a channel of the input; -1: zeros
};

// One row per channel: to[channel * to_stride + piece.to + i] = from[channel * from_stride + piece.from + i * step].
struct Gather {
  const GatherPiece* pieces = nullptr;
  int64_t piece_count = 0;
  int64_t step = 1;
  int64_t channels = 0;
  const float* from = nullptr;
  int64_t from_stride = 0;
  float* to = nullptr;
  int64_t to_stride = 0;
};

using GatherFunction = void (*)(const Gather&);
GatherFunction gather_function(Isa isa);

}  // namespace tenon
