// Ops that go along one axis: ArgMax, ArgMin, CumSum, CumProd, TopK.
#include "ops/infer.h"
#include "ops/reduction.h"

namespace tenon {

namespace {

Status infer_arg(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kNumbers));
  if (!c.shape(0)) {
    c.out(0, DType::Int64, std::nullopt);
    return {};
  }
  const auto& params = c.params<ArgReductionParams>();
  Shape shape = *c.shape(0);
  TN_ASSIGN_OR_RETURN(const int64_t axis, normalize_axis(params.axis, static_cast<int64_t>(shape.size())));
  if (shape[static_cast<size_t>(axis)].equals(0))
    return invalid_model("axis {} of {} is empty, so it has no largest or smallest element", axis, shape_text(shape));
  if (params.keepdims)
    shape[static_cast<size_t>(axis)] = Dim(1);
  else
    shape.erase(shape.begin() + axis);
  c.out(0, DType::Int64, std::move(shape));
  return {};
}

Status infer_scan(InferContext& c) {
  TN_RETURN_IF_ERROR(infer_same_as_input(c, kNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  if (const Shape* s = c.shape(1); s && is_static(*s) && !element_count(*s).equals(1))
    return invalid_model("the axis must be one number, but its shape is {}", shape_text(*s));
  if (c.rank(0) == 0) return invalid_model("a scalar has no axis");
  return {};
}

Status infer_topk(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  if (const Shape* s = c.shape(1); s && is_static(*s) && !element_count(*s).equals(1))
    return invalid_model("K must be one number, but its shape is {}", shape_text(*s));
  const auto k = c.values(1);
  if (k && k->size() != 1) return invalid_model("K must be one number, but it holds {}", k->size());
  if (!c.shape(0)) {
    c.out(0, c.dtype(0), std::nullopt);
    c.out(1, DType::Int64, std::nullopt);
    return {};
  }
  Shape shape = *c.shape(0);
  TN_ASSIGN_OR_RETURN(const int64_t axis,
                      normalize_axis(c.params<TopKParams>().axis, static_cast<int64_t>(shape.size())));
  Dim& extent = shape[static_cast<size_t>(axis)];
  const Dim count = k ? (*k)[0] : c.fresh_symbol();
  if (count.is_constant() && (count.value() < 0 || (extent.is_constant() && count.value() > extent.value())))
    return invalid_model("K is {}, but axis {} of {} has {} elements", count.value(), axis, shape_text(*c.shape(0)),
                         extent.to_string());
  extent = count;
  c.out(0, c.dtype(0), shape);
  c.out(1, DType::Int64, std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::ArgMax>() {
  return define<ArgReductionParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_arg});
}

template <>
OpDef op_definition<OpId::ArgMin>() {
  return define<ArgReductionParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_arg});
}

template <>
OpDef op_definition<OpId::CumSum>() {
  return define<CumulativeParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_scan, .can_fail = true});
}

template <>
OpDef op_definition<OpId::CumProd>() {
  return define<CumulativeParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_scan, .can_fail = true});
}

template <>
OpDef op_definition<OpId::TopK>() {
  return define<TopKParams>({.inputs = {2, 2}, .outputs = {1, 2}, .infer = infer_topk});
}

}  // namespace tenon
