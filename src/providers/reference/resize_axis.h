#pragma once

#include <cmath>
#include <optional>

#include "ops/resize.h"
#include "providers/reference/interpolation.h"
#include "providers/reference/work_meter.h"

// Where the elements of a resized axis come from: arithmetic that all kernels of Resize share.
namespace tenon {

// An axis, and the part of it that tf_crop_and_resize looks at (in fractions of the axis).
struct ResizedAxis : AxisResize {
  double region_begin = 0, region_end = 1;
};

bool is_unchanged(const ResizedAxis& axis);

// Where output element i lies on the input axis; nothing when it is outside the region's source.
// Real is float where rounding decides between elements: what is a tie in the model's float scales must stay one.
template <class Real>
std::optional<Real> source_coordinate(const ResizeParams& p, const ResizedAxis& axis, int64_t i);

// The input element that is nearest to a coordinate.
int64_t nearest_index(const ResizeParams& p, const ResizedAxis& axis, double x);

// Whether the weights of one output element are divided by their sum.
inline bool normalizes_taps(const ResizeParams& p) { return p.antialias || p.exclude_outside; }

// Calls f(index, weight) for the input elements that make the output element at coordinate x, and gives the sum of the
// weights.
template <class F>
double visit_resize_taps(const ResizeParams& p, const ResizedAxis& axis, double x, const F& f) {
  const bool is_cubic = p.mode == "cubic";
  // Antialiasing widens the kernel when the image shrinks.
  const double stretch = p.antialias ? std::min(axis.scale, 1.0) : 1;
  const int64_t reach = static_cast<int64_t>(std::ceil((is_cubic ? 2 : 1) / stretch));
  const int64_t left = static_cast<int64_t>(std::floor(x)) - reach + 1;
  double sum = 0;
  WorkMeter meter;
  for (int64_t i = left; i < left + 2 * reach; ++i) {
    meter.spend();
    const double distance = (static_cast<double>(i) - x) * stretch;
    double weight = is_cubic ? cubic_weight(distance, p.cubic_coeff_a) : linear_weight(distance);
    if (p.exclude_outside && (i < 0 || i >= axis.from)) weight = 0;
    sum += weight;
    if (weight != 0) f(std::clamp<int64_t>(i, 0, axis.from - 1), weight);
  }
  return sum;
}

}  // namespace tenon
