#include "ops/non_max_suppression.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_non_max_suppression(InferContext& c) {
  for (size_t i : {0, 1}) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, {DType::Float32}));
    TN_RETURN_IF_ERROR(c.expect_rank(i, 3));
  }
  TN_RETURN_IF_ERROR(c.expect_tensor(2, {DType::Int64}));
  for (size_t i : {3, 4}) TN_RETURN_IF_ERROR(c.expect_tensor(i, {DType::Float32}));
  for (size_t i : {2, 3, 4})
    if (c.shape(i) && is_static(*c.shape(i)) && !element_count(*c.shape(i)).equals(1))
      return invalid_model("input {} must be one number, but it is {}", i, c.in(i).to_string());
  if (const Shape *boxes = c.shape(0), *scores = c.shape(1); boxes && scores) {
    if ((*boxes)[2].is_constant() && !(*boxes)[2].equals(4))
      return invalid_model("a box must have 4 coordinates, not {}", (*boxes)[2].value());
    auto differ = [](const Dim& a, const Dim& b) { return a.is_constant() && b.is_constant() && !(a == b); };
    if (differ((*boxes)[0], (*scores)[0]) || differ((*boxes)[1], (*scores)[2]))
      return invalid_model("boxes of shape {} do not match scores of shape {}", shape_text(*boxes),
                           shape_text(*scores));
  }
  c.out(0, DType::Int64, Shape{c.fresh_symbol(), Dim(3)});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::NonMaxSuppression>() {
  OpDef def{.inputs = {2, 5}, .outputs = {1, 1}, .infer = infer_non_max_suppression};
  def.decides_output_size = true;
  return define<NonMaxSuppressionParams>(def);
}

}  // namespace tenon
