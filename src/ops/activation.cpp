#include "ops/activation.h"

#include "ops/broadcasting.h"

namespace tenon {

namespace {

Status infer_floats(InferContext& c) { return infer_same_as_input(c, kFloats); }

template <class P = NoParams>
OpDef activation(Status (*infer)(InferContext&) = infer_floats) {
  return define<P>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer, .in_place = InPlace::Elementwise});
}

Status infer_gelu(InferContext& c) {
  const std::string& mode = c.params<GeluParams>().approximate;
  if (mode != "none" && mode != "tanh")
    return invalid_model("attribute 'approximate' is '{}'; it must be 'none' or 'tanh'", mode);
  return infer_floats(c);
}

Status infer_clip(InferContext& c) {
  TN_RETURN_IF_ERROR(infer_same_as_input(c, kNumbers));
  for (size_t i : {1, 2}) {
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
    if (const Shape* s = c.shape(i); s && is_static(*s) && !element_count(*s).equals(1))
      return invalid_model("the {} of a Clip must be one number, but its shape is {}", i == 1 ? "min" : "max",
                           shape_text(*s));
  }
  return {};
}

// The slope broadcasts to the input, never the other way round.
Status infer_prelu(InferContext& c) {
  TN_RETURN_IF_ERROR(infer_elementwise(c, kNumbers, nullptr));
  const std::optional<Shape> broadcast = c.outputs()[0].shape;
  if (broadcast && c.shape(0)->size() < broadcast->size())
    return invalid_model("the slope {} has more dimensions than the input {}", shape_text(*c.shape(1)),
                         shape_text(*c.shape(0)));
  if (broadcast && is_static(*c.shape(0)) && is_static(*broadcast) && *broadcast != *c.shape(0))
    return invalid_model("the slope {} cannot be broadcast to the input {}", shape_text(*c.shape(1)),
                         shape_text(*c.shape(0)));
  c.out(0, c.in(0));
  return {};
}

Status infer_swiglu(InferContext& c) {
  TN_RETURN_IF_ERROR(infer_same_as_input(c, kFloats));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  if (!c.shape(0) || !c.shape(1)) return {};
  const auto merged = merge(c.in(0), c.in(1));
  if (!merged)
    return invalid_model("gate {} and value {} must have the same shape", shape_text(*c.shape(0)),
                         shape_text(*c.shape(1)));
  c.out(0, *merged);
  return {};
}

}  // namespace

#define ACTIVATION(name, ...)         \
  template <>                         \
  OpDef op_definition<OpId::name>() { \
    return activation<__VA_ARGS__>(); \
  }
ACTIVATION(Celu, CeluParams)
ACTIVATION(Elu, EluParams)
ACTIVATION(HardSigmoid, HardSigmoidParams)
ACTIVATION(HardSwish)
ACTIVATION(LeakyRelu, LeakyReluParams)
ACTIVATION(Mish)
ACTIVATION(Selu, SeluParams)
ACTIVATION(Softplus)
ACTIVATION(Softsign)
ACTIVATION(Swish, SwishParams)
ACTIVATION(ThresholdedRelu, ThresholdedReluParams)
#undef ACTIVATION

template <>
OpDef op_definition<OpId::Relu>() {
  return activation([](InferContext& c) { return infer_same_as_input(c, kFloats | kSignedInts); });
}

template <>
OpDef op_definition<OpId::Shrink>() {
  return activation<ShrinkParams>([](InferContext& c) { return infer_same_as_input(c, kNumbers); });
}

template <>
OpDef op_definition<OpId::Gelu>() {
  return activation<GeluParams>(infer_gelu);
}

template <>
OpDef op_definition<OpId::Clip>() {
  return define<NoParams>({.inputs = {1, 3}, .outputs = {1, 1}, .infer = infer_clip});
}

template <>
OpDef op_definition<OpId::PRelu>() {
  return define<NoParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_prelu});
}

template <>
OpDef op_definition<OpId::SwiGLU>() {
  return define<SwishParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_swiglu});
}

}  // namespace tenon
