#include "ops/pooling.h"
#include "onnx/node_draft.h"

namespace tenon {

namespace {

// 'p' is a float in version 1 and an integer since.
float norm_attribute(ImportNode& n) {
  return n.version() < 2 ? n.float_attribute("p", 2.0f) : static_cast<float>(n.int_attribute("p", 2));
}

void import_lp_pool(ImportNode& n) {
  LpPoolParams params;
  params.p = norm_attribute(n);
  params.window = n.read_params<WindowParams>();
  params.ceil_mode = n.int_attribute("ceil_mode", 0) != 0;
  n.finish(n.emit(OpId::LpPool, Params::of(std::move(params)), n.inputs()));
}

void import_global_lp_pool(ImportNode& n) {
  n.finish(n.emit(OpId::GlobalLpPool, Params::of(GlobalLpPoolParams{norm_attribute(n)}), n.inputs()));
}

template <class P>
bool write_norm(NodeDraft& d) {
  const float p = d.params<P>().p;
  if (d.version >= 2) d.set_int("p", static_cast<int64_t>(p));
  return true;
}

}  // namespace

template <>
void onnx_mapping<OpId::AveragePool>(OnnxMap& map) {
  map.same(kOnnxDomain, "AveragePool", OpId::AveragePool).needs("kernel_shape");
}
template <>
void onnx_mapping<OpId::MaxPool>(OnnxMap& map) {
  map.same(kOnnxDomain, "MaxPool", OpId::MaxPool).needs("kernel_shape");
}
template <>
void onnx_mapping<OpId::LpPool>(OnnxMap& map) {
  map.custom(kOnnxDomain, "LpPool", OpId::LpPool, import_lp_pool).needs("kernel_shape", 2);
  map.way_back(OpId::LpPool, kOnnxDomain, "LpPool", write_norm<LpPoolParams>);
}
template <>
void onnx_mapping<OpId::GlobalAveragePool>(OnnxMap& map) {
  map.same(kOnnxDomain, "GlobalAveragePool", OpId::GlobalAveragePool);
}
template <>
void onnx_mapping<OpId::GlobalMaxPool>(OnnxMap& map) {
  map.same(kOnnxDomain, "GlobalMaxPool", OpId::GlobalMaxPool);
}
template <>
void onnx_mapping<OpId::GlobalLpPool>(OnnxMap& map) {
  map.custom(kOnnxDomain, "GlobalLpPool", OpId::GlobalLpPool, import_global_lp_pool);
  map.way_back(OpId::GlobalLpPool, kOnnxDomain, "GlobalLpPool", write_norm<GlobalLpPoolParams>);
}
template <>
void onnx_mapping<OpId::MaxUnpool>(OnnxMap& map) {
  map.same(kOnnxDomain, "MaxUnpool", OpId::MaxUnpool).needs("kernel_shape", 9);
}

}  // namespace tenon
