#include "ops/loss.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// Scores are [N, C, ...], labels [N, ...], weights [C].
Status check_shapes(const InferContext& c) {
  const Shape *scores = c.shape(0), *labels = c.shape(1), *weights = c.shape(2);
  if (scores && scores->size() < 2)
    return invalid_model("scores must have the shape [N, C, ...], but their shape is {}", shape_text(*scores));
  if (scores && labels) {
    Shape expected = *scores;
    expected.erase(expected.begin() + 1);
    if (!merge(Type::tensor(DType::Undefined, expected), Type::tensor(DType::Undefined, *labels)))
      return invalid_model("labels for scores of shape {} must have the shape {}, but their shape is {}",
                           shape_text(*scores), shape_text(expected), shape_text(*labels));
  }
  if (!weights) return {};
  if (weights->size() != 1 ||
      (scores && (*scores)[1].is_constant() && (*weights)[0].is_constant() && !((*scores)[1] == (*weights)[0])))
    return invalid_model("weights must hold one number per class, but their shape is {}", shape_text(*weights));
  return {};
}

Status infer_loss(InferContext& c) {
  const auto& params = c.params<LossParams>();
  if (params.reduction != "none" && params.reduction != "sum" && params.reduction != "mean")
    return invalid_model("attribute 'reduction' is '{}'; it must be 'none', 'sum' or 'mean'", params.reduction);
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kIndex));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 2));
  TN_RETURN_IF_ERROR(check_shapes(c));
  c.out(0, c.dtype(0), params.reduction == "none" ? c.in(1).shape : std::optional(Shape{}));
  c.out(1, c.in(0));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::NegativeLogLikelihoodLoss>() {
  return define<LossParams>({.inputs = {2, 3}, .outputs = {1, 1}, .infer = infer_loss, .can_fail = true});
}

template <>
OpDef op_definition<OpId::SoftmaxCrossEntropyLoss>() {
  return define<LossParams>({.inputs = {2, 3}, .outputs = {1, 2}, .infer = infer_loss, .can_fail = true});
}

}  // namespace tenon
