#include "ops/diagonal.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_trilu(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  if (c.rank(0) && *c.rank(0) < 2)
    return invalid_model("the input needs rank 2 or more, but it is {}", c.in(0).to_string());
  if (c.shape(1) && is_static(*c.shape(1)) && !element_count(*c.shape(1)).equals(1))
    return invalid_model("k must be one integer, but it is {}", c.in(1).to_string());
  c.out(0, c.in(0));
  return {};
}

Status infer_eye_like(InferContext& c) {
  constexpr TypeSet allowed = kNumbers | kBool;
  TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 2));
  const DType dtype = c.params<EyeLikeParams>().dtype.value_or(c.dtype(0));
  if (c.params<EyeLikeParams>().dtype && !allowed.has(dtype))
    return invalid_model("dtype is {}; the allowed types are {}", dtype_name(dtype), allowed.to_string());
  c.out(0, dtype, c.shape(0) ? *c.shape(0) : c.fresh_shape(2));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Trilu>() {
  return define<TriluParams>({.inputs = {1, 2}, .outputs = {1, 1}, .infer = infer_trilu});
}

template <>
OpDef op_definition<OpId::EyeLike>() {
  return define<EyeLikeParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_eye_like});
}

}  // namespace tenon
