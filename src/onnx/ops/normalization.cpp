#include "ops/normalization.h"

#include <algorithm>

#include "onnx/node_draft.h"
#include "ops/cast.h"

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
  if (extra && !params.training_mode)
    n.fail(invalid_model("running statistics are only available as outputs with training_mode=1"));
  n.finish(n.emit(OpId::BatchNormalization, Params::of(params), n.inputs(), count));
}

// A stash_type of 0 names no type; what it has without the attribute is meant.
template <class P>
P read_stashing(ImportNode& n) {
  auto params = n.read_params<P>();
  if (n.has_attribute("stash_type") && n.int_attribute("stash_type", 0) == 0) params.stash_type = P{}.stash_type;
  return params;
}

void import_group_normalization(ImportNode& n) {
  const Params params = Params::of(read_stashing<GroupNormalizationParams>(n));
  n.finish(n.emit(OpId::GroupNormalization, params, n.inputs()));
}

// onnxruntime's own normalizations compute in the wider of the types of input and scale; the result has that of the
// scale.
void emit_with_type_of_scale(ImportNode& n, OpId op, const Params& params, std::vector<ValueId> inputs,
                             size_t outputs) {
  const DType from = n.type(n.input(0)).dtype, to = n.type(n.input(1)).dtype;
  const bool differ = from != DType::Undefined && to != DType::Undefined && from != to;
  CastParams cast;
  cast.to = to;
  const bool widens = differ && dtype_bits(to) > dtype_bits(from);
  if (widens) inputs[0] = n.emit1(OpId::Cast, Params::of(cast), {n.input(0)});
  auto results = n.emit(op, params, std::move(inputs), outputs);
  if (differ && !widens && n.type(results[0]).dtype != to)
    results[0] = n.emit1(OpId::Cast, Params::of(cast), {results[0]});
  n.finish(results);
}

// Before version 17 it is onnxruntime's own op.
void import_layer_normalization(ImportNode& n) {
  const Params params = Params::of(read_stashing<LayerNormalizationParams>(n));
  if (n.version() < 17)
    return emit_with_type_of_scale(n, OpId::LayerNormalization, params, n.inputs(), n.output_count());
  n.finish(n.emit(OpId::LayerNormalization, params, n.inputs(), n.output_count()));
}

void import_rms_normalization(ImportNode& n) {
  const Params params = Params::of(read_stashing<LayerNormalizationParams>(n));
  n.finish(n.emit(OpId::RMSNormalization, params, {n.input(0), n.input(1)}));
}

// What onnxruntime's optimizer writes for it, in any version of the default domain.
void import_simplified_layer_normalization(ImportNode& n) {
  const Params params = Params::of(read_stashing<LayerNormalizationParams>(n));
  emit_with_type_of_scale(n, OpId::RMSNormalization, params, {n.input(0), n.input(1)}, 2);
}

void import_mean_variance_normalization(ImportNode& n) {
  auto params = n.read_params<MeanVarianceNormalizationParams>();
  if (n.version() < 9 && n.int_attribute("across_channels", 0) != 0) params.axes = {0, 1, 2, 3};
  n.finish(n.emit(OpId::MeanVarianceNormalization, Params::of(std::move(params)), n.inputs()));
}

bool write_old_batch_normalization(NodeDraft& d) {
  if (d.version >= 14) return false;
  d.remove("training_mode");
  const auto& scale = d.type(d.inputs[1]).shape;
  if (d.version < 9 && scale && scale->size() != 1) d.set_int("spatial", 0);
  return true;
}

bool write_old_mean_variance_normalization(NodeDraft& d) {
  if (d.version >= 9) return false;
  d.remove("axes");
  d.set_int("across_channels", d.params<MeanVarianceNormalizationParams>().axes.size() == 4 ? 1 : 0);
  return true;
}

}  // namespace

template <>
void onnx_mapping<OpId::BatchNormalization>(OnnxMap& map) {
  map.custom(kOnnxDomain, "BatchNormalization", OpId::BatchNormalization, import_batch_normalization);
  map.way_back(OpId::BatchNormalization, kOnnxDomain, "BatchNormalization", write_old_batch_normalization);
}
template <>
void onnx_mapping<OpId::InstanceNormalization>(OnnxMap& map) {
  map.same(kOnnxDomain, "InstanceNormalization", OpId::InstanceNormalization);
}
template <>
void onnx_mapping<OpId::GroupNormalization>(OnnxMap& map) {
  map.custom(kOnnxDomain, "GroupNormalization", OpId::GroupNormalization, import_group_normalization);
}
template <>
void onnx_mapping<OpId::LayerNormalization>(OnnxMap& map) {
  map.custom(kOnnxDomain, "LayerNormalization", OpId::LayerNormalization, import_layer_normalization);
}
template <>
void onnx_mapping<OpId::RMSNormalization>(OnnxMap& map) {
  map.custom(kOnnxDomain, "RMSNormalization", OpId::RMSNormalization, import_rms_normalization);
  for (std::string_view domain : {kOnnxDomain, kMicrosoftDomain})
    map.custom(domain, "SimplifiedLayerNormalization", OpId::RMSNormalization, import_simplified_layer_normalization);
  for (std::string_view domain : {kOnnxDomain, kMicrosoftDomain})
    map.way_back(OpId::RMSNormalization, domain, "SimplifiedLayerNormalization",
                 [](NodeDraft& d) { return d.domain == kMicrosoftDomain || d.version < 23; });
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
  map.way_back(OpId::MeanVarianceNormalization, kOnnxDomain, "MeanVarianceNormalization",
               write_old_mean_variance_normalization);
}

}  // namespace tenon
