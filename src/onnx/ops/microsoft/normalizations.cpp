#include <algorithm>

#include "onnx/ops/any_rank.h"
#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/concat.h"
#include "ops/normalization.h"
#include "ops/reduction.h"
#include "ops/shape_of.h"

namespace tenon {

namespace {

LayerNormalizationParams layer_params(ImportNode& n, float epsilon) {
  LayerNormalizationParams params;
  params.epsilon = n.float_attribute("epsilon", epsilon);
  return params;
}

void import_skip_layer_normalization(ImportNode& n) {
  const Params params = Params::of(layer_params(n, 1e-12f));
  const ValueId sum = emit::add(n, emit::add(n, n.input(0), n.input(1)), n.input(4));
  auto results = n.emit(OpId::LayerNormalization, params, {sum, n.input(2), n.input(3)}, 3);
  results.push_back(sum);
  n.finish(results);
}

// Nothing is centered here, so the mean (output 1) is not needed; a node may name it all the same.
ValueId row_mean(ImportNode& n, ValueId x) {
  const ValueId wide = emit::cast(n, x, DType::Float32);
  return n.emit1(OpId::ReduceMean, default_params(OpId::ReduceMean), {wide, n.int_constant({-1})});
}

bool names_output(const ImportNode& n, size_t i) { return i < n.output_count() && !n.node().outputs[i].empty(); }

void import_skip_simplified_layer_normalization(ImportNode& n) {
  const Params params = Params::of(layer_params(n, 1e-12f));
  const ValueId sum = emit::add(n, emit::add(n, n.input(0), n.input(1)), n.input(3));
  const auto results = n.emit(OpId::RMSNormalization, params, {sum, n.input(2)}, 2);
  n.finish({results[0], names_output(n, 1) ? row_mean(n, sum) : kNone, results[1], sum});
}

// A tensor that may be quantized; then it has a scale.
ValueId real(ImportNode& n, const emit::Quantized& q) { return q.scale == kNone ? q.x : emit::dequantize(n, q); }

// Only the rows that are used are dequantized.
ValueId rows(ImportNode& n, const emit::Quantized& table, ValueId ids) {
  return real(n, {emit::gather(n, table.x, ids, 0), table.scale, table.zero});
}

// The first rows of the table, as many as the ids have columns.
ValueId first_rows(ImportNode& n, const emit::Quantized& table, ValueId ids) {
  const ValueId count = n.emit1(OpId::Shape, Params::of(ShapeParams{1, 2}), {ids});
  return real(
      n, {n.emit1(OpId::Slice, default_params(OpId::Slice), {table.x, n.int_constant({0}), count, n.int_constant({0})}),
          table.scale, table.zero});
}

// How many elements of each row of the mask are 1; zeros without a mask.
ValueId mask_index(ImportNode& n, ValueId mask, ValueId ids) {
  const int32_t one = 1;
  ValueId is_one;
  if (mask == kNone)
    is_one = emit::plain(n, OpId::Less, ids, ids);
  else
    is_one = emit::plain(n, OpId::Equal, mask, n.constant(Tensor::of<int32_t>({}, std::span<const int32_t>(&one, 1))));
  ReductionParams params;
  params.keepdims = false;
  return n.emit1(OpId::ReduceSum, Params::of(params), {emit::cast(n, is_one, DType::Int32), n.int_constant({1})});
}

// Inputs: ids, segment ids, tables of words, positions and segments, gamma, beta, mask. `parameter` gives inputs 2
// to 6.
template <class Parameter>
void embed_and_normalize(ImportNode& n, ValueId position_ids, Parameter parameter, bool has_sum) {
  const ValueId ids = n.input(0), segment_ids = n.input(1);
  const emit::Quantized positions = parameter(3), segments = parameter(4);
  const ValueId of_position = position_ids == kNone ? first_rows(n, positions, ids) : rows(n, positions, position_ids);
  ValueId sum = emit::add(n, rows(n, parameter(2), ids), of_position);
  if (segments.x != kNone && segment_ids != kNone) sum = emit::add(n, sum, rows(n, segments, segment_ids));
  const Params params = Params::of(layer_params(n, 1e-12f));
  const ValueId gamma = real(n, parameter(5)), beta = real(n, parameter(6));
  const ValueId result = n.emit(OpId::LayerNormalization, params, {sum, gamma, beta}, 3)[0];
  n.finish({result, names_output(n, 1) ? mask_index(n, n.input(7), ids) : kNone, has_sum ? sum : kNone});
}

void import_embed_layer_normalization(ImportNode& n) {
  n.ignore_attribute("mask_index_type");
  const auto parameter = [&](size_t i) { return emit::Quantized{n.input(i), kNone, kNone}; };
  embed_and_normalize(n, n.input(8), parameter, true);
}

// Inputs 8 to 12 are the scales of inputs 2 to 6, inputs 13 to 17 their zero points.
void import_q_embed_layer_normalization(ImportNode& n) {
  for (size_t i : {4, 10, 15})
    if ((n.input(i) == kNone) != (n.input(1) == kNone))
      return n.fail(invalid_model("segment ids, their table, its scale and its zero point must be given together"));
  for (size_t i : {8, 9, 11, 12})
    if (n.input(i) == kNone) return n.fail(invalid_model("input {} is missing; it is the scale of input {}", i, i - 6));
  const auto parameter = [&](size_t i) { return emit::Quantized{n.input(i), n.input(i + 6), n.input(i + 11)}; };
  embed_and_normalize(n, kNone, parameter, false);
}

// Normalizes x, whose channels are last or second, and applies SiLU when asked to.
ValueId group_norm(ImportNode& n, ValueId x, bool last) {
  GroupNormalizationParams params;
  params.epsilon = n.float_attribute("epsilon", params.epsilon);
  params.num_groups = n.int_attribute("groups", 0);
  const int64_t activation = n.int_attribute("activation", 0);
  if (activation != 0 && activation != 1)
    n.fail(invalid_model("activation is {}; it must be 0 (none) or 1 (SiLU)", activation));
  const DType dtype = n.type(x).dtype;
  // Parameters may be wider than X; both then meet in their type.
  const DType wide = n.type(n.input(1)).dtype;
  ValueId y = last ? to_channels_first(n, x) : x;
  if (wide != DType::Undefined) y = emit::cast(n, y, wide);
  y = n.emit1(OpId::GroupNormalization, Params::of(params), {y, n.input(1), n.input(2)});
  if (activation == 1) y = emit::swish(n, y, 1);
  if (dtype != DType::Undefined) y = emit::cast(n, y, dtype);
  return last ? to_channels_last(n, y) : y;
}

void import_group_norm(ImportNode& n) {
  n.finish({group_norm(n, n.input(0), n.int_attribute("channels_last", 1) != 0)});
}

// The operand with axes of extent 1 before axis `at`, so that it has as many as x.
ValueId with_axes_of(ImportNode& n, ValueId x, ValueId operand, int64_t at) {
  const auto wanted = n.rank(x), present = n.rank(operand);
  if (!wanted || !present)
    return insert_open_axes(n, operand, at, emit::plain(n, OpId::Sub, rank_value(n, x), rank_value(n, operand)));
  return insert_axes(n, operand, at, std::max<int64_t>(*wanted - *present, 0));
}

// The skip is like X, or [batch, channels] and then the same everywhere; the bias is [channels].
void import_skip_group_norm(ImportNode& n) {
  const bool last = n.int_attribute("channels_last", 1) != 0;
  const ValueId x = n.input(0), skip = with_axes_of(n, x, n.input(3), last ? 1 : kEnd);
  ValueId bias = n.input(4);
  if (bias != kNone && !last) bias = with_axes_of(n, x, emit::unsqueeze(n, bias, {0}), kEnd);
  const ValueId sum = emit::add(n, emit::add(n, x, skip), bias);
  n.finish({group_norm(n, sum, last), sum});
}

// X is normalized in groups as long as the scale, all in float32.
void import_gated_rms_norm(ImportNode& n) {
  const ValueId x = n.input(0);
  const DType dtype = n.type(x).dtype;
  const Params params = Params::of(layer_params(n, 1e-5f));
  const std::string activation = n.string_attribute("activation", "silu");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid")
    return n.fail(invalid_model("activation is '{}'; it must be silu, swish or sigmoid", activation));
  if (dtype == DType::Undefined) return n.fail(unsupported("GatedRMSNorm needs an X of a known type"));
  const auto wide = [&](size_t i) { return emit::cast(n, n.input(i), DType::Float32); };
  const ValueId length = emit::plain(n, OpId::Shape, n.input(1));
  const ValueId target = n.emit1(OpId::Concat, Params::of(ConcatParams{0}), {n.int_constant({-1}), length});
  const ValueId groups = emit::plain(n, OpId::Reshape, wide(0), target);
  const ValueId normal = n.emit1(OpId::RMSNormalization, params, {groups, wide(1)});
  const ValueId gate = activation == "sigmoid" ? emit::plain(n, OpId::Sigmoid, wide(2)) : emit::swish(n, wide(2), 1);
  const ValueId gated = emit::plain(n, OpId::Mul, emit::reshape_like(n, normal, x), gate);
  n.finish({emit::cast(n, gated, dtype)});
}

}  // namespace

void map_microsoft_normalizations(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "SkipLayerNormalization", OpId::LayerNormalization, import_skip_layer_normalization);
  map.custom(kMicrosoftDomain, "SkipSimplifiedLayerNormalization", OpId::RMSNormalization,
             import_skip_simplified_layer_normalization);
  map.custom(kMicrosoftDomain, "EmbedLayerNormalization", OpId::LayerNormalization, import_embed_layer_normalization);
  map.custom(kMicrosoftDomain, "QEmbedLayerNormalization", OpId::LayerNormalization,
             import_q_embed_layer_normalization);
  map.custom(kMicrosoftDomain, "GroupNorm", OpId::GroupNormalization, import_group_norm);
  map.custom(kMicrosoftDomain, "SkipGroupNorm", OpId::GroupNormalization, import_skip_group_norm);
  map.custom(kMicrosoftDomain, "GatedRMSNorm", OpId::RMSNormalization, import_gated_rms_norm);
}

}  // namespace tenon
