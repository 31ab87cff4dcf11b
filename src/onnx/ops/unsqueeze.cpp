#include "onnx/onnx_map.h"
#include "onnx/ops/constant_numbers.h"
#include "ops/cast.h"

namespace tenon {

namespace {

// Before version 13 the axes are an attribute.
void import_unsqueeze(ImportNode& n) {
  const ValueId axes = n.version() < 13 ? n.int_constant(n.ints_attribute("axes")) : n.input(1);
  n.finish(n.emit(OpId::Unsqueeze, default_params(OpId::Unsqueeze), {n.input(0), axes}));
}

// A scalar of any integer type as the axes of an Unsqueeze.
ValueId axes_of_scalar(ImportNode& n, ValueId axis) {
  if (n.required_constant(axis)) return n.int_constant(constant_integers(n, axis, "axis"));
  const ValueId list = n.emit1(OpId::Reshape, default_params(OpId::Reshape), {axis, n.int_constant({1})});
  CastParams to_int64;
  to_int64.to = DType::Int64;
  return n.emit1(OpId::Cast, Params::of(to_int64), {list});
}

// The contrib op adds one axis, which is a scalar.
void import_expand_dims(ImportNode& n) {
  const ValueId axes = axes_of_scalar(n, n.input(1));
  n.finish(n.emit(OpId::Unsqueeze, default_params(OpId::Unsqueeze), {n.input(0), axes}));
}

}  // namespace

template <>
void onnx_mapping<OpId::Unsqueeze>(OnnxMap& map) {
  map.attribute_inputs(OpId::Unsqueeze, {{1, "axes"}});
  map.custom(kOnnxDomain, "Unsqueeze", OpId::Unsqueeze, import_unsqueeze).needs("axes", 1, 13);
  map.custom(kMicrosoftDomain, "ExpandDims", OpId::Unsqueeze, import_expand_dims);
}

}  // namespace tenon
