#include "ops/normalization.h"

#include <algorithm>

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// Before version 14 the number of outputs tells training from inference. Statistics per activation (spatial=0) show
// in the shape of the scale.
void import_batch_normalization(ImportNode& n) {
  auto params = n.read_params<BatchNormalizationParams>();
  n.ignore_attribute("spatial");
  n.ignore_attribute("is_test");
  const auto& outputs = n.node().outputs;
  const bool extra = std::any_of(outputs.begin() + !outputs.empty(), outputs.end(), [](auto o) { return !o.empty(); });
  if (n.version() < 14) params.training_mode = extra;
  const size_t count = params.training_mode ? std::max<size_t>(1, n.output_count()) : 1;
  if (extra && !params.training_mode) n.fail(invalid_model("running statistics are outputs of training_mode only"));
  n.finish(n.emit(OpId::BatchNormalization, Params::of(params), n.inputs(), count));
}

void import_mean_variance_normalization(ImportNode& n) {
  auto params = n.read_params<MeanVarianceNormalizationParams>();
  if (n.version() < 9 && n.int_attribute("across_channels", 0) != 0) params.axes = {0, 1, 2, 3};
  n.finish(n.emit(OpId::MeanVarianceNormalization, Params::of(std::move(params)), n.inputs()));
}

}  // namespace

template <>
void onnx_mapping<OpId::BatchNormalization>(OnnxMap& map) {
  map.custom(kOnnxDomain, "BatchNormalization", OpId::BatchNormalization, import_batch_normalization);
}
template <>
void onnx_mapping<OpId::InstanceNormalization>(OnnxMap& map) {
  map.same(kOnnxDomain, "InstanceNormalization", OpId::InstanceNormalization);
}
template <>
void onnx_mapping<OpId::GroupNormalization>(OnnxMap& map) {
  map.same(kOnnxDomain, "GroupNormalization", OpId::GroupNormalization);
}
template <>
void onnx_mapping<OpId::LayerNormalization>(OnnxMap& map) {
  map.same(kOnnxDomain, "LayerNormalization", OpId::LayerNormalization);
}
template <>
void onnx_mapping<OpId::RMSNormalization>(OnnxMap& map) {
  map.same(kOnnxDomain, "RMSNormalization", OpId::RMSNormalization);
}
template <>
void onnx_mapping<OpId::LpNormalization>(OnnxMap& map) {
  map.same(kOnnxDomain, "LpNormalization", OpId::LpNormalization);
}
template <>
void onnx_mapping<OpId::LRN>(OnnxMap& map) {
  map.same(kOnnxDomain, "LRN", OpId::LRN);
}
template <>
void onnx_mapping<OpId::MeanVarianceNormalization>(OnnxMap& map) {
  map.custom(kOnnxDomain, "MeanVarianceNormalization", OpId::MeanVarianceNormalization,
             import_mean_variance_normalization);
}

}  // namespace tenon
