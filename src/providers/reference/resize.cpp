#include "ops/resize.h"

#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/movement.h"
#include "providers/reference/resize_axis.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

using Axis = ResizedAxis;

// The input elements that make one output element along an axis.
struct Tap {
  int64_t index;
  double weight;
};

Scratch<Tap> taps_at(const ResizeParams& p, const Axis& axis, double x) {
  Scratch<Tap> taps;
  const double sum =
      visit_resize_taps(p, axis, x, [&](int64_t index, double weight) { taps.push_back({index, weight}); });
  if (normalizes_taps(p) && sum != 0)
    for (Tap& tap : taps) tap.weight /= sum;
  return taps;
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
