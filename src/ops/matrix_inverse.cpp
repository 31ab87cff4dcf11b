#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_inverse(InferContext& c) {
  TN_RETURN_IF_ERROR(infer_same_as_input(c, {DType::Float16, DType::Float32, DType::Float64}));
  const Shape* shape = c.shape(0);
  if (!shape) return {};
  if (shape->size() < 2)
    return invalid_model("X must be a matrix or a batch of matrices, but its shape is {}", shape_text(*shape));
  const Dim &rows = (*shape)[shape->size() - 2], &columns = shape->back();
  if (rows.is_constant() && columns.is_constant() && !(rows == columns))
    return invalid_model("only square matrices have an inverse, but the shape of X is {}", shape_text(*shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Inverse>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_inverse, .can_fail = true});
}

}  // namespace tenon
