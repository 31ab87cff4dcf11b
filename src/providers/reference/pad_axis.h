#pragma once

#include <algorithm>
#include <string_view>

#include "base/checked_math.h"
#include "providers/reference/movement.h"

namespace tenon {

// Where the elements of a padded axis come from: arithmetic that all kernels of Pad share.
struct PadAxis {
  int64_t first = 0, count = 0;  // of the elements that are left when negative pads have cropped the axis
  int64_t shift = 0;             // elements before them in the result

  static PadAxis of(int64_t extent, int64_t begin, int64_t end) {
    const int64_t cut_begin = std::min<int64_t>(begin, 0), cut_end = std::min<int64_t>(end, 0);
    return {-cut_begin, extent + cut_begin + cut_end, std::max<int64_t>(begin, 0)};
  }
  // The index of element i of the result, or kFill.
  int64_t source(std::string_view mode, int64_t i) const {
    const int64_t at = i - shift;
    if (at >= 0 && at < count) return first + at;
    if (mode == "constant") return kFill;
    if (mode == "edge") return first + std::clamp<int64_t>(at, 0, count - 1);
    if (mode == "wrap") return first + floor_mod(at, count);
    // reflect: forth and back without repeating the ends
    if (count == 1) return first;
    const int64_t turn = floor_mod(at, 2 * (count - 1));
    return first + std::min(turn, 2 * (count - 1) - turn);
  }
};

}  // namespace tenon
