#include "ops/pad.h"

#include <algorithm>

#include "ops/infer.h"

namespace tenon {

namespace {

// One padded axis. Negative pads crop first; what is left must be there, and not empty where it is repeated.
Result<Dim> padded_extent(const Dim& extent, const Dim& begin, const Dim& end, bool repeats_data) {
  if (extent.is_constant() && begin.is_constant() && end.is_constant()) {
    const Dim kept = extent + min(begin, Dim(0)) + min(end, Dim(0));
    if (kept.is_invalid() || kept.value() < 0)
      return invalid_model("the pads {} and {} remove more than the extent {}", begin.value(), end.value(),
                           extent.value());
    if (kept.equals(0) && repeats_data && (begin.value() > 0 || end.value() > 0))
      return invalid_model("an empty axis can only be padded with a constant");
  }
  return extent + begin + end;
}

Status infer_pad(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 2));
  TN_RETURN_IF_ERROR(c.expect_tensor(3, kIndex));
  if (c.shape(2) && !element_count(*c.shape(2)).equals(1) && element_count(*c.shape(2)).is_constant())
    return invalid_model("the padding value must be one element, but it is {}", c.in(2).to_string());
  const std::string& mode = c.params<PadParams>().mode;
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return invalid_model("mode is '{}'; it must be 'constant', 'reflect', 'edge' or 'wrap'", mode);
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const int64_t rank = static_cast<int64_t>(shape->size());
  auto pads = c.values(1);
  std::vector<int64_t> axes;
  if (c.has(3)) {
    auto given = c.ints(3);
    if (!given) pads.reset();
    axes = given.value_or(std::vector<int64_t>{});
    TN_RETURN_IF_ERROR(normalize_axes(axes, rank).status());
  } else {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (!pads) {
    c.out(0, c.dtype(0), c.fresh_shape(shape->size()));
    return {};
  }
  if (pads->size() != 2 * axes.size())
    return invalid_model("there are {} pads for {} axes; there must be {}", pads->size(), axes.size(), 2 * axes.size());
  Shape result = *shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& extent = result[static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i])];
    TN_ASSIGN_OR_RETURN(extent, padded_extent(extent, (*pads)[i], (*pads)[axes.size() + i], mode != "constant"));
  }
  c.out(0, c.dtype(0), std::move(result));
  return {};
}

Status infer_center_crop_pad(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const int64_t rank = static_cast<int64_t>(shape->size());
  std::vector<int64_t> axes;
  if (const auto& given = c.params<CenterCropPadParams>().axes) {
    axes = *given;
    TN_RETURN_IF_ERROR(normalize_axes(axes, rank).status());
  } else {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  auto target = c.values(1);
  if (target && target->size() != axes.size())
    return invalid_model("there are {} extents for {} axes", target->size(), axes.size());
  Shape result = *shape;
  for (size_t i = 0; i < axes.size(); ++i)
    result[static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i])] = target ? (*target)[i] : c.fresh_symbol();
  c.out(0, c.dtype(0), std::move(result));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Pad>() {
  return define<PadParams>({.inputs = {2, 4}, .outputs = {1, 1}, .infer = infer_pad});
}

template <>
OpDef op_definition<OpId::CenterCropPad>() {
  return define<CenterCropPadParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_center_crop_pad});
}

}  // namespace tenon
