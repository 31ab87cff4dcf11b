#include "ops/packed.h"

#include "base/checked_math.h"
#include "ops/shape_checks.h"

namespace tenon {

namespace {

constexpr TypeSet kPacked{DType::Float32};

Dim panels_of(const Dim& columns) { return ceil_div(columns, Dim(kPanelWidth)); }

Status check_floats(InferContext& c) {
  for (size_t i = 0; i < c.input_count(); ++i)
    if (c.has(i)) TN_RETURN_IF_ERROR(c.expect_tensor(i, kPacked));
  return {};
}

// The bounds of a Clip, each one element.
Status check_bounds(InferContext& c, const ActivationParams& p) {
  for (size_t i = kPackedLeast; i <= kPackedGreatest; ++i) {
    if (!c.has(i)) continue;
    if (p.activation != activation_name(ActivationKind::Clip))
      return invalid_model("only the activation clip has bounds, not '{}'", p.activation);
    if (c.shape(i) && differ(element_count(*c.shape(i)), Dim(1)))
      return invalid_model("the bounds of clip are one element each, not {}", shape_text(*c.shape(i)));
  }
  return {};
}

Status check_layout(const std::string& layout) {
  if (layout == kPanelsLayout || layout == kDepthwiseLayout) return {};
  return invalid_model("layout '{}' is none of {} and {}", layout, kPanelsLayout, kDepthwiseLayout);
}

Status check_groups(int64_t groups, const Dim& outputs) {
  if (groups < 1) return invalid_model("there are {} groups, at least 1 is needed", groups);
  if (outputs.is_constant() && outputs.value() % groups != 0)
    return invalid_model("{} outputs are not divisible into {} groups", outputs.value(), groups);
  return {};
}

Status check_pack_params(const PackPanelsParams& p) {
  TN_RETURN_IF_ERROR(check_layout(p.layout));
  if (p.source != "nk" && p.source != "kn") return invalid_model("source '{}' is none of nk and kn", p.source);
  if (p.source == "kn" && (p.groups != 1 || p.layout != kPanelsLayout))
    return invalid_model("a matrix [K, N] is packed in one group of {}", kPanelsLayout);
  return {};
}

Dim outputs_of(const Shape& w, bool kn) { return w[kn ? 1 : 0]; }

Dim depth_of(const Shape& w, bool kn) {
  Dim depth = kn ? w[0] : Dim(1);
  for (size_t i = 1; i < w.size() && !kn; ++i) depth = depth * w[i];
  return depth;
}

// Adds the outputs of further weights.
Status add_neighbours(InferContext& c, const PackPanelsParams& p, const Dim& depth, Dim& outputs) {
  const bool kn = p.source == "kn";
  for (size_t i = 2; i < c.input_count(); ++i) {
    if (p.groups != 1 || p.layout != kPanelsLayout)
      return invalid_model("weights stand side by side in one group of {}", kPanelsLayout);
    if (!c.has(i) || !c.shape(i) || c.shape(i)->size() != c.shape(0)->size() || depth_of(*c.shape(i), kn) != depth)
      return invalid_model("weight {} does not fit beside the others", i);
    if (!outputs.is_constant() || outputs.value() % kPanelWidth != 0)
      return invalid_model("weights before weight {} do not fill whole panels", i);
    outputs = outputs + outputs_of(*c.shape(i), kn);
  }
  return {};
}

Status infer_pack_panels(InferContext& c) {
  const auto& p = c.params<PackPanelsParams>();
  TN_RETURN_IF_ERROR(check_pack_params(p));
  TN_RETURN_IF_ERROR(check_floats(c));
  if (!c.shape(0)) {
    c.out(0, DType::Float32, std::nullopt);
    return {};
  }
  const Shape& w = *c.shape(0);
  const bool kn = p.source == "kn";
  if (w.empty() || (kn && w.size() != 2))
    return invalid_model("weights of shape {} cannot be packed from {}", shape_text(w), p.source);
  Dim outputs = outputs_of(w, kn);
  const Dim depth = depth_of(w, kn);
  TN_RETURN_IF_ERROR(check_groups(p.groups, outputs));
  TN_RETURN_IF_ERROR(add_neighbours(c, p, depth, outputs));
  TN_RETURN_IF_ERROR(expect_shape(c, 1, "the scale", {outputs}));
  if (p.layout == kDepthwiseLayout)
    c.out(0, DType::Float32, Shape{panels_of(outputs), depth, Dim(kPanelWidth)});
  else
    c.out(0, DType::Float32,
          Shape{Dim(p.groups), panels_of(floor_div(outputs, Dim(p.groups))), depth, Dim(kPanelWidth)});
  return {};
}

Status infer_packed_matmul(InferContext& c) {
  const auto& p = c.params<PackedMatMulParams>();
  TN_RETURN_IF_ERROR(fused_activation(p.activation).status());
  TN_RETURN_IF_ERROR(check_floats(c));
  TN_RETURN_IF_ERROR(check_bounds(c, p.activation));
  if (p.n < 0 || p.k < 0) return invalid_model("a weight of {} x {} cannot exist", p.k, p.n);
  TN_RETURN_IF_ERROR(
      expect_shape(c, 1, "the packed weight", {Dim(1), panels_of(Dim(p.n)), Dim(p.k), Dim(kPanelWidth)}));
  TN_RETURN_IF_ERROR(expect_shape(c, 2, "the bias", {Dim(p.n)}));
  if (!c.shape(0)) {
    c.out(0, DType::Float32, std::nullopt);
    return {};
  }
  Shape shape = *c.shape(0);
  if (shape.empty() || differ(shape.back(), Dim(p.k)))
    return invalid_model("the input {} must end in {} elements", shape_text(shape), p.k);
  shape.back() = Dim(p.n);
  c.out(0, DType::Float32, std::move(shape));
  return {};
}

// The shape of the packed weight; input channels may be unknown.
Result<Shape> packed_conv_shape(const PackedConvParams& p, const Dim& input_channels) {
  const Dim group(p.conv.group), outputs(p.output_channels);
  const auto taps = checked_product(p.conv.window.kernel_shape);
  if (!taps) return invalid_model("a kernel of this shape is too large");
  if (p.layout == kDepthwiseLayout) {
    if (differ(input_channels, group))
      return invalid_model("{} channels in {} groups are not depthwise", input_channels.to_string(), p.conv.group);
    return Shape{panels_of(outputs), Dim(*taps), Dim(kPanelWidth)};
  }
  const Dim depth = floor_div(input_channels, group) * Dim(*taps);
  return Shape{group, panels_of(floor_div(outputs, group)), depth, Dim(kPanelWidth)};
}

Status infer_packed_conv(InferContext& c) {
  const auto& p = c.params<PackedConvParams>();
  TN_RETURN_IF_ERROR(fused_activation(p.activation).status());
  TN_RETURN_IF_ERROR(check_layout(p.layout));
  TN_RETURN_IF_ERROR(check_floats(c));
  TN_RETURN_IF_ERROR(check_bounds(c, p.activation));
  if (p.output_channels < 0) return invalid_model("'output_channels' is {}", p.output_channels);
  TN_RETURN_IF_ERROR(check_groups(p.conv.group, Dim(p.output_channels)));
  TN_RETURN_IF_ERROR(expect_shape(c, 2, "the bias", {Dim(p.output_channels)}));
  if (!c.shape(0)) {
    c.out(0, DType::Float32, std::nullopt);
    return {};
  }
  const Shape& x = *c.shape(0);
  if (x.size() < 3 || x.size() > 5)
    return unsupported("a packed convolution has 1 to 3 spatial axes, the input is {}", shape_text(x));
  TN_RETURN_IF_ERROR(check_groups(p.conv.group, x[1]));
  TN_ASSIGN_OR_RETURN(Window window, make_window(p.conv.window, x.size() - 2));
  TN_ASSIGN_OR_RETURN(Shape packed, packed_conv_shape(p, x[1]));
  TN_RETURN_IF_ERROR(expect_shape(c, 1, "the packed weight", packed));
  c.out(0, DType::Float32, window_output_shape(window, x, Dim(p.output_channels)));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::PackPanels>() {
  return define<PackPanelsParams>({.inputs = {1, kVariadic}, .outputs = {1, 1}, .infer = infer_pack_panels});
}

template <>
OpDef op_definition<OpId::PackedMatMul>() {
  return define<PackedMatMulParams>({.inputs = {2, 5}, .outputs = {1, 1}, .infer = infer_packed_matmul});
}

template <>
OpDef op_definition<OpId::PackedConv>() {
  return define<PackedConvParams>({.inputs = {2, 5}, .outputs = {1, 1}, .infer = infer_packed_conv});
}

}  // namespace tenon
