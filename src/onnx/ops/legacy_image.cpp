#include "ops/legacy_image.h"

#include "onnx/onnx_map.h"
#include "ops/cast.h"
#include "ops/fill.h"
#include "ops/reshape.h"

namespace tenon {

namespace {

// The shape of a filled tensor: of the attribute, of an input, or what an input says; `extra_shape` comes after.
ValueId filled_shape(ImportNode& n) {
  const auto given = n.ints_attribute("shape"), extra = n.ints_attribute("extra_shape");
  for (const auto& list : {given, extra})
    for (int64_t extent : list)
      if (extent < 0) n.fail(invalid_model("a shape has the extent {}, which is out of range", extent));
  const bool contents = n.int_attribute("input_as_shape", 0) != 0;
  ValueId shape;
  if (n.input(0) == kNone)
    shape = n.int_constant(given);
  else
    shape = contents ? n.input(0) : n.emit1(OpId::Shape, default_params(OpId::Shape), {n.input(0)});
  if (extra.empty()) return shape;
  return n.emit1(OpId::Concat, default_params(OpId::Concat), {shape, n.int_constant(extra)});
}

void import_given_tensor_fill(ImportNode& n) {
  const auto values = n.floats_attribute("values");
  const ValueId fill = n.attribute_weight("values", Tensor::of<float>({static_cast<int64_t>(values.size())}, values));
  ReshapeParams params;
  params.allowzero = true;
  n.finish(n.emit(OpId::Reshape, Params::of(params), {fill, filled_shape(n)}));
}

// One number everywhere.
void import_constant_fill(ImportNode& n) {
  const float value = n.float_attribute("value", 0);
  const DType dtype = dtype_from_onnx(n.int_attribute("dtype", 1)).value_or(DType::Undefined);
  ConstantOfShapeParams params;
  params.value = Tensor::of<float>({1}, std::span<const float>(&value, 1));
  CastParams cast;
  cast.to = dtype;
  const ValueId filled = n.emit1(OpId::ConstantOfShape, Params::of(params), {filled_shape(n)});
  n.finish(n.emit(OpId::Cast, Params::of(cast), {filled}));
}

void import_scale(ImportNode& n) {
  n.finish(n.emit(OpId::Affine, Params::of(AlphaBetaParams{n.float_attribute("scale", 1), 0}), n.inputs()));
}

// Neither number has a default.
template <OpId op>
void import_alpha_beta(ImportNode& n) {
  for (const char* name : {"alpha", "beta"})
    if (!n.has_attribute(name)) n.fail(invalid_model("attribute '{}' is missing", name));
  n.finish(n.emit(op, n.read_params(op), n.inputs()));
}

}  // namespace

template <>
void onnx_mapping<OpId::Affine>(OnnxMap& map) {
  map.same(kOnnxDomain, "Affine", OpId::Affine);
  map.custom(kOnnxDomain, "Scale", OpId::Affine, import_scale);
  map.custom(kOnnxDomain, "GivenTensorFill", OpId::Reshape, import_given_tensor_fill);
  map.custom(kOnnxDomain, "ConstantFill", OpId::ConstantOfShape, import_constant_fill);
}

template <>
void onnx_mapping<OpId::ParametricSoftplus>(OnnxMap& map) {
  map.custom(kOnnxDomain, "ParametricSoftplus", OpId::ParametricSoftplus, import_alpha_beta<OpId::ParametricSoftplus>);
}

template <>
void onnx_mapping<OpId::ScaledTanh>(OnnxMap& map) {
  map.custom(kOnnxDomain, "ScaledTanh", OpId::ScaledTanh, import_alpha_beta<OpId::ScaledTanh>);
}

template <>
void onnx_mapping<OpId::ImageScaler>(OnnxMap& map) {
  map.same(kOnnxDomain, "ImageScaler", OpId::ImageScaler);
}

}  // namespace tenon
