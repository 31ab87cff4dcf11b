#include "ops/convolution.h"
#include "ops/infer.h"
#include "ops/shape_checks.h"

namespace tenon {

namespace {

constexpr TypeSet kBytes{DType::Int8, DType::UInt8};

Status expect_one(const InferContext& c, size_t i, const char* what) {
  const Shape* s = c.shape(i);
  if (!s || !is_static(*s) || element_count(*s).equals(1)) return {};
  return invalid_model("{} must be one number, but its shape is {}", what, shape_text(*s));
}

// One number, or one for each output channel of the weights.
Status expect_per_channel(InferContext& c, size_t i, size_t weights, const char* what) {
  const Shape *s = c.shape(i), *w = c.shape(weights);
  if (!s || (is_static(*s) && element_count(*s).equals(1))) return {};
  return w && !w->empty() ? expect_shape(c, i, what, {(*w)[0]}) : Status();
}

Status infer_conv_integer(InferContext& c) {
  for (size_t i : {0, 1}) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kBytes));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(i, i + 2));
  }
  TN_RETURN_IF_ERROR(expect_one(c, 2, "the input's zero point"));
  TN_ASSIGN_OR_RETURN(auto shape, conv_output_shape(c, c.params<ConvParams>(), 0, 1));
  TN_RETURN_IF_ERROR(expect_per_channel(c, 3, 1, "the weights' zero point"));
  c.out(0, DType::Int32, std::move(shape));
  return {};
}

// Inputs: x, scale, zero point; w, scale, zero point; the result's scale and zero point; bias.
Status infer_qlinear_conv(InferContext& c) {
  for (size_t i : {0, 3}) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kBytes));
    TN_RETURN_IF_ERROR(c.expect_tensor(i + 1, {DType::Float32}));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(i, i + 2));
  }
  TN_RETURN_IF_ERROR(c.expect_tensor(6, {DType::Float32}));
  TN_RETURN_IF_ERROR(c.expect_tensor(7, kBytes));
  TN_RETURN_IF_ERROR(c.expect_tensor(8, {DType::Int32}));
  for (size_t i : {1, 2, 6, 7})
    TN_RETURN_IF_ERROR(expect_one(c, i, "a scale or zero point of the input or the result"));
  TN_ASSIGN_OR_RETURN(auto shape, conv_output_shape(c, c.params<ConvParams>(), 0, 3));
  TN_RETURN_IF_ERROR(expect_per_channel(c, 4, 3, "the weights' scale"));
  TN_RETURN_IF_ERROR(expect_per_channel(c, 5, 3, "the weights' zero point"));
  if (const Shape* w = c.shape(3)) TN_RETURN_IF_ERROR(expect_shape(c, 8, "the bias", {(*w)[0]}));
  c.out(0, c.dtype(7), std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::ConvInteger>() {
  return define<ConvParams>({.inputs = {2, 4}, .outputs = {1, 1}, .infer = infer_conv_integer});
}

template <>
OpDef op_definition<OpId::QLinearConv>() {
  return define<ConvParams>({.inputs = {8, 9}, .outputs = {1, 1}, .infer = infer_qlinear_conv});
}

}  // namespace tenon
