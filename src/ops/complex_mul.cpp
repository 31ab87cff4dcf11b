#include "ops/complex_mul.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status expect_pairs(const InferContext& c, size_t i) {
  TN_RETURN_IF_ERROR(c.expect_tensor(i, {DType::Float16, DType::Float32, DType::Float64}));
  const Shape* shape = c.shape(i);
  if (!shape || (!shape->empty() && (!shape->back().is_constant() || shape->back().equals(2)))) return {};
  return invalid_model("the last axis of input {} must be (real, imaginary), but its shape is {}", i,
                       shape_text(*shape));
}

Status infer_complex_mul(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_pairs(c, 0));
  TN_RETURN_IF_ERROR(expect_pairs(c, 1));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  if (!c.shape(0) || !c.shape(1)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(Shape shape, broadcast(*c.shape(0), *c.shape(1)));
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::ComplexMul>() {
  return define<ComplexMulParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_complex_mul});
}

}  // namespace tenon
