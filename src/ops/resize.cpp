#include "ops/resize.h"

#include <algorithm>
#include <cmath>

#include "ops/accepted.h"
#include "ops/infer.h"

namespace tenon {

size_t ResizeParams::resized_axis(size_t i, int64_t rank) const {
  if (!axes) return i;
  const int64_t axis = (*axes)[i];
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

std::vector<int64_t> ResizeParams::resized_axes(int64_t rank) const {
  std::vector<int64_t> result;
  for (size_t i = 0; i < resized_count(rank); ++i) result.push_back(static_cast<int64_t>(resized_axis(i, rank)));
  return result;
}

namespace {

bool is_one_of(const std::string& text, std::initializer_list<const char*> allowed) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const char* a) { return text == a; });
}

Status check_params(const ResizeParams& p) {
  if (!is_one_of(p.mode, {"nearest", "linear", "cubic"}))
    return invalid_model("mode is '{}'; it must be 'nearest', 'linear' or 'cubic'", p.mode);
  if (!is_one_of(p.nearest_mode, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "old"}))
    return invalid_model("unknown nearest_mode '{}'", p.nearest_mode);
  if (!is_one_of(p.coordinate_transformation_mode,
                 {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                  "tf_crop_and_resize", "tf_half_pixel_for_nn"}))
    return invalid_model("unknown coordinate_transformation_mode '{}'", p.coordinate_transformation_mode);
  if (!is_one_of(p.keep_aspect_ratio_policy, {"stretch", "not_larger", "not_smaller"}))
    return invalid_model("keep_aspect_ratio_policy is '{}'; it must be 'stretch', 'not_larger' or 'not_smaller'",
                         p.keep_aspect_ratio_policy);
  return {};
}

Status check_count(size_t given, size_t needed, const char* what) {
  if (given == needed) return {};
  return invalid_model("{} has {} entries, but {} are needed", what, given, needed);
}

Status set_extent(AxisResize& axis, double extent) {
  if (!(extent >= 0) || extent > 1e15) return error(Code::ResourceLimit, "an axis cannot be resized to {}", extent);
  axis.to = static_cast<int64_t>(extent);
  if (axis.from == 0 && axis.to > 0) return invalid_model("an empty axis cannot be resized to {}", axis.to);
  return {};
}

Status plan_from_sizes(const ResizeParams& p, std::span<AxisResize> plan, std::span<const int64_t> sizes) {
  const auto rank = static_cast<int64_t>(plan.size());
  TN_RETURN_IF_ERROR(check_count(sizes.size(), p.resized_count(rank), "sizes"));
  double common = p.keep_aspect_ratio_policy == "not_larger" ? HUGE_VAL : 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    AxisResize& axis = plan[p.resized_axis(i, rank)];
    TN_RETURN_IF_ERROR(set_extent(axis, static_cast<double>(sizes[i])));
    axis.scale = axis.from == 0 ? 1 : static_cast<double>(axis.to) / static_cast<double>(axis.from);
    common = p.keep_aspect_ratio_policy == "not_larger" ? std::min(common, axis.scale) : std::max(common, axis.scale);
  }
  if (p.keep_aspect_ratio_policy == "stretch") return {};
  for (size_t i = 0; i < sizes.size(); ++i) {
    AxisResize& axis = plan[p.resized_axis(i, rank)];
    axis.scale = common;
    TN_RETURN_IF_ERROR(set_extent(axis, std::floor(common * static_cast<double>(axis.from) + 0.5)));
  }
  return {};
}

}  // namespace

Status plan_resize(const ResizeParams& p, std::span<const int64_t> dims, std::span<const float> scales,
                   std::span<const int64_t> sizes, std::span<AxisResize> plan) {
  for (size_t i = 0; i < dims.size(); ++i) plan[i] = {dims[i], dims[i], 1};
  if (scales.empty()) return plan_from_sizes(p, plan, sizes);
  const auto rank = static_cast<int64_t>(dims.size());
  TN_RETURN_IF_ERROR(check_count(scales.size(), p.resized_count(rank), "scales"));
  for (size_t i = 0; i < scales.size(); ++i) {
    if (!(scales[i] > 0)) return invalid_model("the scale is {}; it must be positive", scales[i]);
    AxisResize& axis = plan[p.resized_axis(i, rank)];
    axis.scale = scales[i];
    // In float, as exporters compute the extents that later nodes rely on.
    TN_RETURN_IF_ERROR(set_extent(axis, std::floor(static_cast<float>(axis.from) * scales[i])));
  }
  return {};
}

Result<std::vector<AxisResize>> plan_resize(const ResizeParams& p, std::span<const int64_t> dims,
                                            std::span<const float> scales, std::span<const int64_t> sizes) {
  std::vector<AxisResize> plan(dims.size());
  TN_RETURN_IF_ERROR(plan_resize(p, dims, scales, sizes, plan));
  return plan;
}

namespace {

// The extent of a symbolic axis: exact for whole factors and unit fractions, open for others.
Dim scaled_extent(InferContext& c, const Dim& extent, float scale) {
  if (scale == 1) return extent;
  if (scale == std::floor(scale) && scale > 0 && scale < 1e6f) return extent * Dim(static_cast<int64_t>(scale));
  const float inverse = 1 / scale;
  // Only powers of two have an exact inverse, so only these divide exactly in float.
  int exponent = 0;
  if (scale > 0 && inverse < 1e6f && std::frexp(inverse, &exponent) == 0.5f)
    return floor_div(extent, Dim(static_cast<int64_t>(inverse)));
  return c.fresh_symbol();
}

bool is_given(const InferContext& c, size_t i) {
  if (!c.has(i)) return false;
  const Shape* s = c.shape(i);
  return !s || !element_count(*s).equals(0);
}

Result<Shape> static_shape(const ResizeParams& p, const Shape& shape, const Tensor* scales,
                           const std::vector<int64_t>& sizes) {
  std::vector<int64_t> dims;
  for (const Dim& d : shape) dims.push_back(d.value());
  TN_ASSIGN_OR_RETURN(auto plan, plan_resize(p, dims, scales ? scales->as<float>() : std::span<const float>(), sizes));
  Shape result;
  for (const AxisResize& axis : plan) result.push_back(Dim(axis.to));
  return result;
}

Result<Shape> resized_shape(InferContext& c, const ResizeParams& p, const Shape& shape) {
  const bool by_scales = is_given(c, 2) && !is_given(c, 3);
  const Tensor* scales = by_scales ? c.constant(2) : nullptr;
  auto sizes = by_scales ? std::nullopt : c.values(3);
  if (!scales && !sizes) return c.fresh_shape(shape.size());
  const std::vector<int64_t> axes = p.resized_axes(static_cast<int64_t>(shape.size()));
  TN_RETURN_IF_ERROR(check_count(scales ? static_cast<size_t>(scales->size()) : sizes->size(), axes.size(),
                                 scales ? "scales" : "sizes"));
  if (is_static(shape) && (scales || is_static(*sizes))) {
    std::vector<int64_t> extents;
    for (size_t i = 0; sizes && i < sizes->size(); ++i) extents.push_back((*sizes)[i].value());
    return static_shape(p, shape, scales, extents);
  }
  Shape result = shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& extent = result[static_cast<size_t>(axes[i])];
    if (scales)
      extent = scaled_extent(c, extent, scales->as<float>()[i]);
    else
      extent = p.keep_aspect_ratio_policy == "stretch" ? (*sizes)[i] : c.fresh_symbol();
  }
  return result;
}

Status infer_resize(InferContext& c) {
  const auto& p = c.params<ResizeParams>();
  TN_RETURN_IF_ERROR(check_params(p));
  TN_RETURN_IF_ERROR(c.expect_tensor(0, p.mode == "nearest" ? kAnyType : kNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kFloats));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, {DType::Float32}));
  TN_RETURN_IF_ERROR(c.expect_tensor(3, {DType::Int64}));
  if (!is_given(c, 2) && !is_given(c, 3)) return invalid_model("either scales or sizes must be given");
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const int64_t rank = static_cast<int64_t>(shape->size());
  if (p.axes) TN_RETURN_IF_ERROR(normalize_axes(*p.axes, rank).status());
  if (p.coordinate_transformation_mode == "tf_crop_and_resize") {
    if (!is_given(c, 1))
      return invalid_model("the coordinate_transformation_mode 'tf_crop_and_resize' needs a region (input 1)");
    const Dim count = c.shape(1) ? element_count(*c.shape(1)) : c.fresh_symbol();
    const size_t needed = 2 * (p.axes ? p.axes->size() : shape->size());
    if (count.is_constant()) TN_RETURN_IF_ERROR(check_count(static_cast<size_t>(count.value()), needed, "roi"));
  }
  TN_ASSIGN_OR_RETURN(Shape result, resized_shape(c, p, *shape));
  c.out(0, c.dtype(0), std::move(result));
  return {};
}

// X, region, scales, sizes.
Accepted accepts_resize(const AcceptContext&, size_t input) {
  return input == 2 ? Accepted::range(1, 2) : input == 3 ? Accepted::range(1, 8) : Accepted{};
}

}  // namespace

template <>
OpDef op_definition<OpId::Resize>() {
  return define<ResizeParams>({.inputs = {1, 4}, .outputs = {1, 1}, .infer = infer_resize, .accepts = accepts_resize});
}

}  // namespace tenon
