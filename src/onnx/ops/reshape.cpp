#include "ops/reshape.h"
#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// Before version 5 the target is an attribute.
void import_reshape(ImportNode& n) {
  auto params = Params::of(n.read_params<ReshapeParams>());
  const ValueId target = n.version() < 5 ? n.int_constant(n.ints_attribute("shape")) : n.input(1);
  n.finish(n.emit(OpId::Reshape, std::move(params), {n.input(0), target}));
}

}  // namespace

template <>
void onnx_mapping<OpId::Reshape>(OnnxMap& map) {
  map.attribute_inputs(OpId::Reshape, {{1, "shape"}});
  map.custom(kOnnxDomain, "Reshape", OpId::Reshape, import_reshape);
}

}  // namespace tenon
