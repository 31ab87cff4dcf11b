#include "ops/legacy_image.h"

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// A constant in the shape of the attribute, of an input, or of what an input says; `extra_shape` comes after.
void import_given_tensor_fill(ImportNode& n) {
  const auto values = n.floats_attribute("values");
  const ValueId fill = n.attribute_weight("values", Tensor::of<float>({static_cast<int64_t>(values.size())}, values));
  ValueId shape = kNone;
  const auto extra = n.ints_attribute("extra_shape");
  const bool contents = n.int_attribute("input_as_shape", 0) != 0;
  if (n.input(0) == kNone) {
    shape = n.int_constant(n.ints_attribute("shape"));
  } else {
    n.ignore_attribute("shape");
    shape = contents ? n.input(0) : n.emit1(OpId::Shape, default_params(OpId::Shape), {n.input(0)});
  }
  if (!extra.empty()) shape = n.emit1(OpId::Concat, default_params(OpId::Concat), {shape, n.int_constant(extra)});
  n.finish(n.emit(OpId::Reshape, default_params(OpId::Reshape), {fill, shape}));
}

}  // namespace

template <>
void onnx_mapping<OpId::Affine>(OnnxMap& map) {
  map.same(kOnnxDomain, "Affine", OpId::Affine);
  map.custom(kOnnxDomain, "GivenTensorFill", OpId::Reshape, import_given_tensor_fill);
}

template <>
void onnx_mapping<OpId::ParametricSoftplus>(OnnxMap& map) {
  map.same(kOnnxDomain, "ParametricSoftplus", OpId::ParametricSoftplus);
}

template <>
void onnx_mapping<OpId::ScaledTanh>(OnnxMap& map) {
  map.same(kOnnxDomain, "ScaledTanh", OpId::ScaledTanh);
}

template <>
void onnx_mapping<OpId::ImageScaler>(OnnxMap& map) {
  map.same(kOnnxDomain, "ImageScaler", OpId::ImageScaler);
}

}  // namespace tenon
