#include "providers/reference/resize_axis.h"

#include <algorithm>
#include <type_traits>

namespace tenon {

template <class Real>
std::optional<Real> source_coordinate(const ResizeParams& p, const ResizedAxis& axis, int64_t i) {
  const std::string& mode = p.coordinate_transformation_mode;
  const Real x = static_cast<Real>(i), scale = static_cast<Real>(axis.scale), half = static_cast<Real>(0.5);
  const Real extent = static_cast<Real>(axis.from), last = extent - 1;
  // The exact width, of which the real one is the whole part.
  const Real width = scale * extent;
  if (mode == "align_corners") return width == 1 ? 0 : x * last / (width - 1);
  if (mode == "asymmetric") return x / scale;
  if (mode == "tf_half_pixel_for_nn") return (x + half) / scale;
  if (mode == "pytorch_half_pixel" && width == 1) return -half;
  if (mode == "half_pixel_symmetric")
    return extent / 2 * (1 - static_cast<Real>(axis.to) / width) + (x + half) / scale - half;
  if (mode == "tf_crop_and_resize") {
    const Real begin = static_cast<Real>(axis.region_begin),
               length = (static_cast<Real>(axis.region_end) - begin) * last;
    const Real at = begin * last + (width == 1 ? length / 2 : x * length / (width - 1));
    const bool inside = at >= 0 && at <= last;  // NaN is not
    if constexpr (std::is_same_v<Real, float>) return inside ? std::optional(at) : std::nullopt;
    // What is on a border in the model's float region is inside, however more digits of it would round.
    if (!source_coordinate<float>(p, axis, i)) return std::nullopt;
    return std::clamp(at, Real(0), last);
  }
  return (x + half) / scale - half;
}

template std::optional<float> source_coordinate(const ResizeParams& p, const ResizedAxis& axis, int64_t i);
template std::optional<double> source_coordinate(const ResizeParams& p, const ResizedAxis& axis, int64_t i);

int64_t nearest_index(const ResizeParams& p, const ResizedAxis& axis, double x) {
  const std::string& mode = p.nearest_mode;
  const bool up = mode == "ceil" || (mode == "old" && axis.scale < 1);
  const double rounded = up                             ? std::ceil(x)
                         : mode == "round_prefer_floor" ? std::ceil(x - 0.5)
                         : mode == "round_prefer_ceil"  ? std::floor(x + 0.5)
                                                        : std::floor(x);
  return static_cast<int64_t>(std::clamp(rounded, 0.0, static_cast<double>(axis.from - 1)));
}

bool is_unchanged(const ResizedAxis& axis) {
  return axis.from == axis.to && std::abs(axis.scale - 1) < 1e-9 && axis.region_begin == 0 && axis.region_end == 1;
}

}  // namespace tenon
