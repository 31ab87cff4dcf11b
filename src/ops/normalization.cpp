#include "ops/normalization.h"

#include "ops/shape_checks.h"

namespace tenon {

namespace {

Status expect_floats(InferContext& c, size_t inputs) {
  for (size_t i = 0; i < inputs; ++i) TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
  return {};
}

Status expect_channels(InferContext& c) {
  const auto rank = c.rank(0);
  if (!rank || *rank >= 2) return {};
  return invalid_model("input 0 must be [batch, channels, ...], but it is {}", c.in(0).to_string());
}

// Per-channel statistics [C], or per activation [C, D1, ...] as old versions with spatial=0 have them.
Status check_batch_statistics(InferContext& c, size_t input) {
  static constexpr const char* names[] = {"", "scale", "B", "the mean", "the variance"};
  const Shape *x = c.shape(0), *s = c.shape(input);
  if (!x || !s) return {};
  const bool per_activation = s->size() > 1 && s->size() + 1 == x->size();
  if (per_activation) return expect_shape(c, input, names[input], Shape(x->begin() + 1, x->end()));
  return expect_shape(c, input, names[input], {x->size() < 2 ? Dim(1) : (*x)[1]});
}

Status infer_batch_normalization(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_floats(c, 5));
  if (c.rank(0) && *c.rank(0) < 1) return invalid_model("input 0 must have rank 1 or more, but it is a scalar");
  for (size_t i = 1; i < 5; ++i) TN_RETURN_IF_ERROR(check_batch_statistics(c, i));
  for (size_t i = 2; i < 5; ++i) {
    if (!c.shape(1) || !c.shape(i)) continue;
    if (differ(*c.shape(1), *c.shape(i)))
      return invalid_model("scale has the shape {}, but input {} has the shape {}", shape_text(*c.shape(1)), i,
                           shape_text(*c.shape(i)));
  }
  if (c.output_count() > 1 && !c.params<BatchNormalizationParams>().training_mode)
    return invalid_model("running statistics are only available as outputs with training_mode=1");
  c.out(0, c.in(0));
  for (size_t i = 1; i < c.output_count(); ++i) c.out(i, c.dtype(3), c.in(3).shape);
  return {};
}

Status infer_instance_normalization(InferContext& c) {
  TN_RETURN_IF_ERROR(expect_floats(c, 3));
  TN_RETURN_IF_ERROR(expect_channels(c));
  for (size_t i = 1; i < 3; ++i) {
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
    if (c.shape(0)) TN_RETURN_IF_ERROR(expect_shape(c, i, i == 1 ? "scale" : "B", {(*c.shape(0))[1]}));
  }
  c.out(0, c.in(0));
  return {};
}

Status check_stash_type(DType stash) {
  if (kFloats.has(stash)) return {};
  return invalid_model("stash_type must name a float type");
}

Status infer_group_normalization(InferContext& c) {
  const auto& p = c.params<GroupNormalizationParams>();
  TN_RETURN_IF_ERROR(expect_floats(c, 3));
  TN_RETURN_IF_ERROR(expect_channels(c));
  TN_RETURN_IF_ERROR(check_stash_type(p.stash_type));
  if (p.num_groups < 1) return invalid_model("num_groups is {}; it must be at least 1", p.num_groups);
  c.out(0, c.in(0));
  if (!c.shape(0) || !(*c.shape(0))[1].is_constant()) return {};
  const int64_t channels = (*c.shape(0))[1].value();
  if (channels % p.num_groups != 0)
    return invalid_model("{} channels cannot be divided evenly into {} groups", channels, p.num_groups);
  for (size_t i = 1; i < 3; ++i) {
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
    // Version 18 has one scale and bias per group.
    const Shape* s = c.shape(i);
    if (s && s->size() == 1 && (*s)[0].equals(p.num_groups)) continue;
    TN_RETURN_IF_ERROR(expect_shape(c, i, i == 1 ? "scale" : "bias", {Dim(channels)}));
  }
  return {};
}

// An input that broadcasts to input 0 without changing its shape.
Status check_broadcasts_to_first(InferContext& c, size_t i) {
  const Shape *x = c.shape(0), *s = c.shape(i);
  if (!x || !s) return {};
  TN_ASSIGN_OR_RETURN(Shape both, broadcast(*x, *s));
  if (both.size() == x->size() && (!is_static(both) || !is_static(*x) || both == *x)) return {};
  return invalid_model("input {} of shape {} does not broadcast to {}", i, shape_text(*s), shape_text(*x));
}

Status check_layer_params(InferContext& c, size_t inputs) {
  const auto& p = c.params<LayerNormalizationParams>();
  TN_RETURN_IF_ERROR(expect_floats(c, inputs));
  TN_RETURN_IF_ERROR(check_stash_type(p.stash_type));
  if (c.rank(0)) TN_RETURN_IF_ERROR(normalize_axis(p.axis, *c.rank(0)).status());
  for (size_t i = 1; i < inputs; ++i) TN_RETURN_IF_ERROR(check_broadcasts_to_first(c, i));
  return {};
}

// One number for every row, with ones in place of the normalized axes.
Result<std::optional<Shape>> row_shape(InferContext& c) {
  if (!c.shape(0)) return std::optional<Shape>();
  TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(c.params<LayerNormalizationParams>().axis, *c.rank(0)));
  Shape reduced = *c.shape(0);
  for (size_t i = static_cast<size_t>(axis); i < reduced.size(); ++i) reduced[i] = Dim(1);
  return std::optional(reduced);
}

Status infer_layer_normalization(InferContext& c) {
  const auto& p = c.params<LayerNormalizationParams>();
  TN_RETURN_IF_ERROR(check_layer_params(c, 3));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(1, 2));
  TN_ASSIGN_OR_RETURN(const auto reduced, row_shape(c));
  c.out(0, c.in(0));
  c.out(1, p.stash_type, reduced);
  c.out(2, p.stash_type, reduced);
  return {};
}

Status infer_rms_normalization(InferContext& c) {
  TN_RETURN_IF_ERROR(check_layer_params(c, 2));
  TN_ASSIGN_OR_RETURN(auto reduced, row_shape(c));
  c.out(0, c.dtype(1), c.in(0).shape);
  c.out(1, c.params<LayerNormalizationParams>().stash_type, std::move(reduced));
  return {};
}

Status infer_lp_normalization(InferContext& c) {
  const auto& p = c.params<LpNormalizationParams>();
  if (p.p != 1 && p.p != 2) return invalid_model("p is {}; it must be 1 or 2", p.p);
  if (c.rank(0)) TN_RETURN_IF_ERROR(normalize_axis(p.axis, *c.rank(0)).status());
  return infer_same_as_input(c, kFloats);
}

Status infer_lrn(InferContext& c) {
  const auto& p = c.params<LRNParams>();
  if (p.size < 1) return invalid_model("size is {}; it must be at least 1", p.size);
  TN_RETURN_IF_ERROR(expect_channels(c));
  return infer_same_as_input(c, kFloats);
}

Status infer_mean_variance_normalization(InferContext& c) {
  const auto& axes = c.params<MeanVarianceNormalizationParams>().axes;
  if (c.rank(0)) TN_RETURN_IF_ERROR(normalize_axes(axes, *c.rank(0)).status());
  return infer_same_as_input(c, kFloats);
}

}  // namespace

template <>
OpDef op_definition<OpId::BatchNormalization>() {
  // Y, running mean and variance; before version 14 also the batch's own mean and variance.
  return define<BatchNormalizationParams>({.inputs = {5, 5}, .outputs = {1, 5}, .infer = infer_batch_normalization});
}
template <>
OpDef op_definition<OpId::InstanceNormalization>() {
  return define<InstanceNormalizationParams>(
      {.inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_instance_normalization});
}
template <>
OpDef op_definition<OpId::GroupNormalization>() {
  return define<GroupNormalizationParams>({.inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_group_normalization});
}
template <>
OpDef op_definition<OpId::LayerNormalization>() {
  return define<LayerNormalizationParams>({.inputs = {2, 3}, .outputs = {1, 3}, .infer = infer_layer_normalization});
}
template <>
OpDef op_definition<OpId::RMSNormalization>() {
  return define<LayerNormalizationParams>({.inputs = {2, 2}, .outputs = {1, 2}, .infer = infer_rms_normalization});
}
template <>
OpDef op_definition<OpId::LpNormalization>() {
  return define<LpNormalizationParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_lp_normalization});
}
template <>
OpDef op_definition<OpId::LRN>() {
  return define<LRNParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_lrn});
}
template <>
OpDef op_definition<OpId::MeanVarianceNormalization>() {
  return define<MeanVarianceNormalizationParams>(
      {.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_mean_variance_normalization});
}

}  // namespace tenon
