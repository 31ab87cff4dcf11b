#include "onnx/onnx_map.h"

namespace tenon {

namespace {

void import_if(ImportNode& n) {
  auto then_branch = n.body_attribute("then_branch", {});
  auto else_branch = n.body_attribute("else_branch", {});
  n.finish(n.emit(OpId::If, default_params(OpId::If), n.inputs(), n.output_count(), {then_branch, else_branch}));
}

}  // namespace

template <>
void onnx_mapping<OpId::If>(OnnxMap& map) {
  map.custom(kOnnxDomain, "If", OpId::If, import_if);
  map.bodies(OpId::If, {"then_branch", "else_branch"});
}

}  // namespace tenon
