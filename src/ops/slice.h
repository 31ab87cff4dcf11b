#pragma once

#include <optional>
#include <span>

#include "ops/op.h"

namespace tenon {

// The indices start, start + step, ... (count of them) along one axis.
struct SliceRange {
  int64_t start = 0, step = 1, count = 0;
};

// A range over an axis of this extent, clamped as numpy does; step is not 0.
SliceRange clamp_slice(int64_t extent, int64_t start, int64_t end, int64_t step);

}  // namespace tenon
