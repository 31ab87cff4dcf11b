#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ops/grid.h"
#include "providers/reference/interpolation.h"

// Where the points of a grid lie in an image.
namespace tenon {

// Folds x back and forth between two borders.
inline double reflect_between(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double turn = std::fmod(std::abs(x - low), 2 * range);
  return low + (turn <= range ? turn : 2 * range - turn);
}

// One axis of the sampled image.
struct GridAxis {
  int64_t extent;
  double low, high;  // the image's borders in pixels
};

struct GridTap {
  int64_t index;  // -1: outside, counts as zero
  double weight;
};

// The pixels of one axis that a sample takes.
struct GridTaps {
  std::array<GridTap, 4> taps;
  size_t count = 0;
  void add(GridTap tap) { taps[count++] = tap; }
  const GridTap* begin() const { return taps.data(); }
  const GridTap* end() const { return taps.data() + count; }
};

class GridSampler {
 public:
  GridSampler(const GridSampleParams& params, Dims image) : p_(params) {
    for (int64_t d : image) {
      const double extent = static_cast<double>(d);
      axes_.push_back({d, p_.align_corners ? 0 : -0.5, p_.align_corners ? extent - 1 : extent - 0.5});
    }
  }

  // A grid coordinate in [-1, 1] as a place among the pixels of an axis.
  double pixel_of(size_t axis, double x) const {
    const double extent = static_cast<double>(axes_[axis].extent);
    return p_.align_corners ? (x + 1) / 2 * (extent - 1) : ((x + 1) * extent - 1) / 2;
  }

  GridTaps taps(size_t axis, double x) const {
    if (p_.mode == "nearest") x = std::nearbyint(x);
    x = bring_near(axes_[axis], x);
    GridTaps result;
    if (p_.mode == "nearest") {
      result.add({pixel_index(axes_[axis], static_cast<int64_t>(x)), 1});
      return result;
    }
    const int64_t reach = p_.mode == "cubic" ? 2 : 1, base = static_cast<int64_t>(std::floor(x));
    for (int64_t i = base - reach + 1; i <= base + reach; ++i) {
      const double distance = static_cast<double>(i) - x;
      const double weight = p_.mode == "cubic" ? cubic_weight(distance, -0.75) : linear_weight(distance);
      if (weight != 0) result.add({pixel_index(axes_[axis], i), weight});
    }
    return result;
  }

 private:
  // Coordinates beyond the borders, as the padding mode has it. What remains fits an integer.
  double bring_near(const GridAxis& axis, double x) const {
    const double last = static_cast<double>(axis.extent - 1);
    // Cubic weights reach over the border: the pixels there are repeated, not the coordinate moved.
    const bool repeats_pixels = p_.mode == "cubic" && p_.padding_mode == "border";
    if (p_.padding_mode == "zeros" || repeats_pixels) return x == x ? std::clamp(x, -4.0, last + 4) : -4;
    if (x != x) return 0;
    if (x >= axis.low && x <= axis.high) return x;
    if (p_.padding_mode == "border" || std::isinf(x)) return std::clamp(x, 0.0, last);
    return reflect_between(x, axis.low, axis.high);
  }

  int64_t pixel_index(const GridAxis& axis, int64_t i) const {
    if (i >= 0 && i < axis.extent) return i;
    if (p_.padding_mode == "zeros") return -1;
    if (p_.padding_mode == "reflection")
      i = static_cast<int64_t>(reflect_between(static_cast<double>(i), axis.low, axis.high));
    return std::clamp<int64_t>(i, 0, axis.extent - 1);
  }

  const GridSampleParams& p_;
  std::vector<GridAxis> axes_;
};

}  // namespace tenon
