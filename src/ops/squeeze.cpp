// Ops that drop or merge dimensions without moving elements.
#include "ops/axis_set.h"
#include "ops/flatten.h"
#include "ops/infer.h"

namespace tenon {

namespace {

// Without axes, every dimension of 1 goes; which ones is open while extents are symbolic.
std::optional<Shape> squeeze_all(const Shape& shape) {
  Shape result;
  for (const Dim& d : shape) {
    if (!d.is_constant()) return std::nullopt;
    if (!d.equals(1)) result.push_back(d);
  }
  return result;
}

Result<Shape> squeeze_axes(Shape shape, const std::vector<int64_t>& axes) {
  TN_ASSIGN_OR_RETURN(auto sorted, axis_set(axes, static_cast<int64_t>(shape.size())));
  for (size_t i = sorted.size(); i-- > 0;) {
    const Dim& d = shape[static_cast<size_t>(sorted[i])];
    if (d.is_constant() && !d.equals(1))
      return invalid_model("axis {} of {} has the extent {}; only axes of extent 1 can be squeezed", sorted[i],
                           shape_text(shape), d.value());
    shape.erase(shape.begin() + sorted[i]);
  }
  return shape;
}

Status infer_squeeze(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  std::optional<Shape> result;
  if (const Shape* shape = c.shape(0)) {
    if (!c.has(1)) {
      result = squeeze_all(*shape);
    } else if (auto axes = c.ints(1)) {
      TN_ASSIGN_OR_RETURN(result, squeeze_axes(*shape, *axes));
    }
  }
  c.out(0, c.dtype(0), std::move(result));
  if (auto known = c.propagated(0)) c.out_values(0, std::move(*known));
  return {};
}

Status infer_flatten(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, c.dtype(0), c.fresh_shape(2));
    return {};
  }
  const int64_t rank = static_cast<int64_t>(shape->size());
  int64_t axis = c.params<FlattenParams>().axis;
  if (axis < -rank || axis > rank) return invalid_model("axis {} is out of range for a tensor of rank {}", axis, rank);
  axis += axis < 0 ? rank : 0;
  Dim rows(1), columns(1);
  for (int64_t i = 0; i < rank; ++i)
    (i < axis ? rows : columns) = (i < axis ? rows : columns) * (*shape)[static_cast<size_t>(i)];
  c.out(0, c.dtype(0), Shape{rows, columns});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Squeeze>() {
  return define<NoParams>(
      {.inputs = {1, 2}, .outputs = {1, 1}, .infer = infer_squeeze, .in_place = InPlace::SameElements});
}

template <>
OpDef op_definition<OpId::Flatten>() {
  return define<FlattenParams>(
      {.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_flatten, .in_place = InPlace::SameElements});
}

}  // namespace tenon
