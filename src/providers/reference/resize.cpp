#include "ops/resize.h"

#include <algorithm>
#include <type_traits>

#include "providers/reference/indexing.h"
#include "providers/reference/interpolation.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

// An axis, and the part of it that tf_crop_and_resize looks at (in fractions of the axis).
struct Axis : AxisResize {
  double region_begin = 0, region_end = 1;
};

// Where output element i lies on the input axis; nothing when it is outside the region's source.
// Real is float where rounding decides between elements: what is a tie in the model's float scales must stay one.
template <class Real>
std::optional<Real> source_coordinate(const ResizeParams& p, const Axis& axis, int64_t i) {
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

int64_t nearest_index(const ResizeParams& p, const Axis& axis, double x) {
  const std::string& mode = p.nearest_mode;
  const bool up = mode == "ceil" || (mode == "old" && axis.scale < 1);
  const double rounded = up                             ? std::ceil(x)
                         : mode == "round_prefer_floor" ? std::ceil(x - 0.5)
                         : mode == "round_prefer_ceil"  ? std::floor(x + 0.5)
                                                        : std::floor(x);
  return static_cast<int64_t>(std::clamp(rounded, 0.0, static_cast<double>(axis.from - 1)));
}

// The input elements that make one output element along an axis.
struct Tap {
  int64_t index;
  double weight;
};

Scratch<Tap> taps_at(const ResizeParams& p, const Axis& axis, double x) {
  const bool is_cubic = p.mode == "cubic";
  // Antialiasing widens the kernel when the image shrinks.
  const double stretch = p.antialias ? std::min(axis.scale, 1.0) : 1;
  const int64_t reach = static_cast<int64_t>(std::ceil((is_cubic ? 2 : 1) / stretch));
  const int64_t left = static_cast<int64_t>(std::floor(x)) - reach + 1;
  Scratch<Tap> taps;
  double sum = 0;
  WorkMeter meter;
  for (int64_t i = left; i < left + 2 * reach; ++i) {
    meter.spend();
    const double distance = (static_cast<double>(i) - x) * stretch;
    double weight = is_cubic ? cubic_weight(distance, p.cubic_coeff_a) : linear_weight(distance);
    if (p.exclude_outside && (i < 0 || i >= axis.from)) weight = 0;
    sum += weight;
    if (weight != 0) taps.push_back({std::clamp<int64_t>(i, 0, axis.from - 1), weight});
  }
  if ((p.antialias || p.exclude_outside) && sum != 0)
    for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

bool is_unchanged(const Axis& axis) {
  return axis.from == axis.to && std::abs(axis.scale - 1) < 1e-9 && axis.region_begin == 0 && axis.region_end == 1;
}

// Interpolates along one axis.
Result<Tensor> resize_axis(KernelContext& c, const Tensor& in, const Axis& axis, size_t at) {
  const auto& p = c.params<ResizeParams>();
  std::vector<int64_t> dims = in.dims();
  dims[at] = axis.to;
  TN_ASSIGN_OR_RETURN(Tensor out, Tensor::allocate(DType::Float64, dims, c.budget()));
  const AxisSplit split(in.dims(), static_cast<int64_t>(at));
  const double* from = in.as<double>().data();
  double* to = out.as_mutable<double>().data();
  WorkMeter meter;
  for (int64_t i = 0; i < axis.to; ++i) {
    const auto x = source_coordinate<double>(p, axis, i);
    const Scratch<Tap> taps = x ? taps_at(p, axis, *x) : Scratch<Tap>{};
    for (int64_t o = 0; o < split.outer; ++o) {
      for (int64_t k = 0; k < split.inner; ++k) {
        meter.spend(static_cast<int64_t>(taps.size()) + 1);
        double sum = x ? 0 : p.extrapolation_value;
        for (const Tap& tap : taps) sum += tap.weight * from[(o * axis.from + tap.index) * split.inner + k];
        to[(o * axis.to + i) * split.inner + k] = sum;
      }
    }
  }
  return out;
}

Status interpolate(KernelContext& c, const std::vector<Axis>& axes) {
  const TensorView& out = c.out(0);
  TN_ASSIGN_OR_RETURN(Tensor work, to_doubles(c.in(0), c.budget()));
  for (size_t at = 0; at < axes.size(); ++at) {
    if (is_unchanged(axes[at])) continue;
    TN_ASSIGN_OR_RETURN(work, resize_axis(c, work, axes[at], at));
  }
  return dispatch_numbers(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto target = out.as<T>();
    const double* values = work.as<double>().data();
    for_each_index(out.size(), [&](int64_t i) { target[static_cast<size_t>(i)] = sampled<T>(values[i]); });
    return Status();
  });
}

Status pick_nearest(KernelContext& c, const std::vector<Axis>& axes) {
  const auto& p = c.params<ResizeParams>();
  std::vector<AxisMap> maps;
  bool needs_fill = false;
  for (const Axis& axis : axes) {
    const bool unchanged = is_unchanged(axis);
    maps.push_back(axis_map(axis.to, [&](int64_t i) {
      if (unchanged) return i;
      const auto x = source_coordinate<float>(p, axis, i);
      needs_fill = needs_fill || !x;
      return x ? nearest_index(p, axis, *x) : kFill;
    }));
  }
  if (!needs_fill) return copy_mapped(c.in(0), c.out(0), maps);
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) {
    const auto fill = sampled<typename decltype(tag)::type>(p.extrapolation_value);
    return copy_mapped(c.in(0), c.out(0), maps, &fill);
  });
}

// The regions of tf_crop_and_resize: all begins, then all ends.
Status read_regions(KernelContext& c, const std::vector<int64_t>& resized, std::vector<Axis>& axes) {
  if (!c.has(1) || c.params<ResizeParams>().coordinate_transformation_mode != "tf_crop_and_resize") return {};
  return dispatch_floats(c.in(1).dtype, [&](auto tag) {
    auto region = c.in(1).as<typename decltype(tag)::type>();
    for (size_t i = 0; i < resized.size(); ++i) {
      axes[static_cast<size_t>(resized[i])].region_begin = widen(region[i]);
      axes[static_cast<size_t>(resized[i])].region_end = widen(region[resized.size() + i]);
    }
    return Status();
  });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Resize>() {
  return [](KernelContext& c) -> Status {
    const auto& p = c.params<ResizeParams>();
    if (c.out(0).size() == 0) return {};
    const bool by_sizes = c.has(3) && c.in(3).size() > 0;
    const auto scales = by_sizes ? std::span<const float>() : std::span<const float>(c.in(2).as<float>());
    const auto sizes = by_sizes ? std::span<const int64_t>(c.in(3).as<int64_t>()) : std::span<const int64_t>();
    TN_ASSIGN_OR_RETURN(auto plan, plan_resize(p, c.in(0).dims, scales, sizes));
    std::vector<Axis> axes;
    for (const AxisResize& a : plan) axes.push_back({a});
    TN_RETURN_IF_ERROR(read_regions(c, p.resized_axes(c.in(0).rank()), axes));
    return p.mode == "nearest" ? pick_nearest(c, axes) : interpolate(c, axes);
  };
}

}  // namespace tenon
