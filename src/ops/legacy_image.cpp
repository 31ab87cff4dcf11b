// Ops that ONNX had as experiments and that old files still contain.
#include "ops/legacy_image.h"

#include "ops/infer.h"

namespace tenon {

namespace {

OpDef elementwise() {
  return define<AlphaBetaParams>(
      {.inputs = {1, 1}, .outputs = {1, 1}, .infer = [](InferContext& c) { return infer_same_as_input(c, kFloats); }});
}

Status infer_image_scaler(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_rank(0, 4));
  const auto& bias = c.params<ImageScalerParams>().bias;
  if (const Shape* s = c.shape(0); s && (*s)[1].is_constant() && !(*s)[1].equals(static_cast<int64_t>(bias.size())))
    return invalid_model("bias has {} entries, but the image has {} channels", bias.size(), (*s)[1].value());
  return infer_same_as_input(c, kFloats);
}

}  // namespace

template <>
OpDef op_definition<OpId::Affine>() {
  return elementwise();
}

template <>
OpDef op_definition<OpId::ParametricSoftplus>() {
  return elementwise();
}

template <>
OpDef op_definition<OpId::ScaledTanh>() {
  return elementwise();
}

template <>
OpDef op_definition<OpId::ImageScaler>() {
  return define<ImageScalerParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_image_scaler});
}

}  // namespace tenon
