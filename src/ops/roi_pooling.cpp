#include "ops/roi_pooling.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// Regions [count, columns]; the result is [count, channels, height, width].
Status infer_regions(InferContext& c, int64_t columns, int64_t height, int64_t width) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kFloats));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 4));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 2));
  if (height < 1 || width < 1)
    return invalid_model("the pooled size is {} x {}; both extents must be positive", height, width);
  const Shape* regions = c.shape(1);
  if (regions && (*regions)[1].is_constant() && !(*regions)[1].equals(columns))
    return invalid_model("rois must have {} columns, but they have the shape {}", columns, shape_text(*regions));
  const Dim count = regions ? (*regions)[0] : c.fresh_symbol();
  const Dim channels = c.shape(0) ? (*c.shape(0))[1] : c.fresh_symbol();
  c.out(0, c.dtype(0), Shape{count, channels, Dim(height), Dim(width)});
  return {};
}

Status infer_roi_align(InferContext& c) {
  const auto& p = c.params<RoiAlignParams>();
  if (p.mode != "avg" && p.mode != "max") return invalid_model("mode is '{}'; it must be 'avg' or 'max'", p.mode);
  if (p.coordinate_transformation_mode != "half_pixel" && p.coordinate_transformation_mode != "output_half_pixel")
    return invalid_model("coordinate_transformation_mode is '{}'; it must be 'half_pixel' or 'output_half_pixel'",
                         p.coordinate_transformation_mode);
  if (p.sampling_ratio < 0) return invalid_model("sampling_ratio is {}; it must not be negative", p.sampling_ratio);
  TN_RETURN_IF_ERROR(c.expect_tensor(2, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_rank(2, 1));
  if (c.shape(1) && c.shape(2) && c.shape(1)->size() == 2) {
    const Dim rois = (*c.shape(1))[0], indices = (*c.shape(2))[0];
    if (rois.is_constant() && indices.is_constant() && !(rois == indices))
      return invalid_model("there are {} regions but {} batch indices", rois.value(), indices.value());
  }
  return infer_regions(c, 4, p.output_height, p.output_width);
}

Status infer_max_roi_pool(InferContext& c) {
  const auto& shape = c.params<MaxRoiPoolParams>().pooled_shape;
  if (shape.size() != 2) return invalid_model("pooled_shape has {} entries; it must have 2", shape.size());
  return infer_regions(c, 5, shape[0], shape[1]);
}

}  // namespace

template <>
OpDef op_definition<OpId::RoiAlign>() {
  return define<RoiAlignParams>({.inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_roi_align, .can_fail = true});
}
template <>
OpDef op_definition<OpId::MaxRoiPool>() {
  return define<MaxRoiPoolParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_max_roi_pool, .can_fail = true});
}

}  // namespace tenon
