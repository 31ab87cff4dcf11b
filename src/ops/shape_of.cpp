#include "ops/shape_of.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_shape(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  const Shape* shape = c.shape(0);
  if (!shape) {
    c.out(0, DType::Int64, Shape{c.fresh_symbol()});
    return {};
  }
  const auto [first, last] = c.params<ShapeParams>().range(static_cast<int64_t>(shape->size()));
  c.out(0, DType::Int64, Shape{Dim(last - first)});
  c.out_values(0, {shape->begin() + first, shape->begin() + last});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Shape>() {
  return define<ShapeParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_shape, .rounding = kNotRounded});
}

}  // namespace tenon
