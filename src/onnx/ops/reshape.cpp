#include "ops/reshape.h"
#include "onnx/node_draft.h"

namespace tenon {

namespace {

// Before version 5 the target is an attribute.
void import_reshape(ImportNode& n) {
  auto params = Params::of(n.read_params<ReshapeParams>());
  const ValueId target = n.version() < 5 ? n.int_constant(n.ints_attribute("shape")) : n.input(1);
  n.finish(n.emit(OpId::Reshape, std::move(params), {n.input(0), target}));
}

// Before version 14 a 0 always copies the input's extent, which is all the same where there is none.
bool write_old_reshape(NodeDraft& d) {
  const auto target = d.known(1);
  if (d.version >= 14 || !d.params<ReshapeParams>().allowzero || !target) return false;
  for (const Dim& extent : *target)
    if (!extent.is_constant() || extent.value() == 0) return false;
  d.restate(Params::of(ReshapeParams{}));
  d.remove("allowzero");
  return true;
}

}  // namespace

template <>
void onnx_mapping<OpId::Reshape>(OnnxMap& map) {
  map.attribute_inputs(OpId::Reshape, {{1, "shape"}});
  map.custom(kOnnxDomain, "Reshape", OpId::Reshape, import_reshape);
  map.way_back(OpId::Reshape, kOnnxDomain, "Reshape", write_old_reshape);
}

}  // namespace tenon
