#include "ops/pooling.h"

namespace tenon {

namespace {

Status expect_spatial(InferContext& c, size_t i, int64_t least_rank = 3) {
  const auto rank = c.rank(i);
  if (!rank || *rank >= least_rank) return {};
  return invalid_model("input {} must be [batch, channels, spatial...], but it is {}", i, c.in(i).to_string());
}

// A window over input 0; every output has the pooled shape.
Status infer_pool(InferContext& c, TypeSet allowed, const WindowParams& params, bool ceil_mode) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
  TN_RETURN_IF_ERROR(expect_spatial(c, 0));
  if (params.kernel_shape.empty()) return invalid_model("'kernel_shape' is missing");
  std::optional<Shape> shape;
  if (const Shape* input = c.shape(0)) {
    TN_ASSIGN_OR_RETURN(Window window, make_window(params, input->size() - 2));
    shape = window_output_shape(window, *input, (*input)[1], ceil_mode);
  }
  c.out(1, DType::Int64, shape);
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

Status infer_average_pool(InferContext& c) {
  const auto& p = c.params<AveragePoolParams>();
  return infer_pool(c, kFloats, p.window, p.ceil_mode);
}

Status infer_max_pool(InferContext& c) {
  const auto& p = c.params<MaxPoolParams>();
  if (p.storage_order != 0 && p.storage_order != 1)
    return invalid_model("storage_order is {}; it must be 0 or 1", p.storage_order);
  return infer_pool(c, kFloats | TypeSet{DType::Int8, DType::UInt8}, p.window, p.ceil_mode);
}

Status check_norm(float p) {
  if (p > 0) return {};
  return invalid_model("p is {}; it must be positive", p);
}

Status infer_lp_pool(InferContext& c) {
  const auto& p = c.params<LpPoolParams>();
  TN_RETURN_IF_ERROR(check_norm(p.p));
  return infer_pool(c, kFloats, p.window, p.ceil_mode);
}

// Spatial axes shrink to 1.
Status infer_global_pool(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(expect_spatial(c, 0, 2));
  std::optional<Shape> shape;
  if (const Shape* input = c.shape(0)) {
    shape = *input;
    for (size_t i = 2; i < shape->size(); ++i) (*shape)[i] = Dim(1);
  }
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

Status infer_global_lp_pool(InferContext& c) {
  TN_RETURN_IF_ERROR(check_norm(c.params<GlobalLpPoolParams>().p));
  return infer_global_pool(c);
}

Status infer_max_unpool(InferContext& c) {
  const auto& p = c.params<MaxUnpoolParams>();
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, {DType::Int64}));
  TN_RETURN_IF_ERROR(expect_spatial(c, 0));
  const Shape *x = c.shape(0), *indices = c.shape(1);
  if (x && indices && is_static(*x) && is_static(*indices) && *x != *indices)
    return invalid_model("values {} and indices {} must have the same shape", shape_text(*x), shape_text(*indices));
  if (!x) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(Shape shape, unpooled_shape(p, *x));
  if (c.has(2)) {
    auto wanted = c.values(2);
    if (wanted && wanted->size() != x->size())
      return invalid_model("output_shape has {} entries, but the tensor has rank {}", wanted->size(), x->size());
    for (size_t i = 0; wanted && i < shape.size(); ++i)
      if ((*wanted)[i].is_constant() && shape[i].is_constant() && (*wanted)[i].value() < shape[i].value())
        return invalid_model("output_shape {} is smaller than {}, the shape that the pooling implies",
                             shape_text(*wanted), shape_text(shape));
    shape = wanted ? Shape(std::move(*wanted)) : c.fresh_shape(x->size());
  }
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

}  // namespace

Result<Shape> unpooled_shape(const MaxUnpoolParams& p, const Shape& pooled) {
  TN_ASSIGN_OR_RETURN(Window window, make_window({"NOTSET", p.kernel_shape, p.strides, {}, p.pads}, pooled.size() - 2));
  Shape shape{pooled[0], pooled[1]};
  for (size_t i = 0; i < window.rank(); ++i) {
    const WindowAxis& a = window.axes[i];
    shape.push_back((pooled[i + 2] - Dim(1)) * Dim(a.stride) + Dim(a.kernel - a.pad_begin - a.pad_end));
  }
  for (const Dim& d : shape)
    if (d.is_invalid() || (d.is_constant() && d.value() < 0))
      return invalid_model("a tensor of shape {} cannot be the result of pooling with these attributes",
                           shape_text(pooled));
  return shape;
}

template <>
OpDef op_definition<OpId::AveragePool>() {
  return define<AveragePoolParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_average_pool});
}
template <>
OpDef op_definition<OpId::MaxPool>() {
  return define<MaxPoolParams>({.inputs = {1, 1}, .outputs = {1, 2}, .infer = infer_max_pool});
}
template <>
OpDef op_definition<OpId::LpPool>() {
  return define<LpPoolParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_lp_pool});
}
template <>
OpDef op_definition<OpId::GlobalAveragePool>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_global_pool});
}
template <>
OpDef op_definition<OpId::GlobalMaxPool>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_global_pool});
}
template <>
OpDef op_definition<OpId::GlobalLpPool>() {
  return define<GlobalLpPoolParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_global_lp_pool});
}
template <>
OpDef op_definition<OpId::MaxUnpool>() {
  return define<MaxUnpoolParams>({.inputs = {2, 3}, .outputs = {1, 1}, .infer = infer_max_unpool, .can_fail = true});
}

}  // namespace tenon
