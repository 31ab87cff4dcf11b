#pragma once

#include <algorithm>

#include "ops/op.h"

namespace tenon {

// Shape: the extents [start, end) of its input.
struct ShapeParams {
  int64_t start = 0;
  std::optional<int64_t> end;
  void fields(FieldVisitor& v) {
    v.field("start", start);
    v.field("end", end);
  }
  // The range of axes for a rank, clamped as ONNX says.
  std::pair<int64_t, int64_t> range(int64_t rank) const {
    auto clamp = [&](int64_t axis) { return std::max<int64_t>(0, std::min(rank, axis < 0 ? axis + rank : axis)); };
    const int64_t first = clamp(start);
    return {first, std::max(first, clamp(end.value_or(rank)))};
  }
};

}  // namespace tenon
