#include "ops/packed.h"

#include <algorithm>

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
Status check_bounds(InferContext& c, const FusedActivation& activation) {
  for (size_t i = kPackedLeast; i <= kPackedGreatest; ++i) {
    if (!c.has(i)) continue;
    if (activation.kind != ActivationKind::Clip)
      return invalid_model("only the activation 'clip' has bounds, not '{}'", choice_name(activation.kind));
    if (c.shape(i) && differ(element_count(*c.shape(i)), Dim(1)))
      return invalid_model("the bounds of 'clip' must have one element each, but their shape is {}",
                           shape_text(*c.shape(i)));
  }
  return {};
}

Status check_groups(int64_t groups, const Dim& outputs) {
  if (groups < 1) return invalid_model("there are {} groups; there must be at least 1", groups);
  if (outputs.is_constant() && outputs.value() % groups != 0)
    return invalid_model("{} outputs cannot be divided evenly into {} groups", outputs.value(), groups);
  return {};
}

// How a weight of some order is a matrix.
struct WeightExtents {
  Dim outputs, depth;
};
WeightExtents weight_extents(const PackPanelsParams& p, const Shape& w) {
  if (p.source == WeightOrder::DepthFirst) return {w[1], w[0]};
  const bool inputs_first = p.source == WeightOrder::InputsFirst;
  Dim depth = inputs_first ? floor_div(w[0], Dim(p.groups)) : Dim(1);
  for (size_t i = inputs_first ? 2 : 1; i < w.size(); ++i) depth = depth * w[i];
  return {inputs_first ? w[1] * Dim(p.groups) : w[0], depth};
}

// A matrix of rows of k is one group; so many groups divide the input channels of a weight that has them first.
Status check_source(const PackPanelsParams& p, const Shape* w) {
  const bool plain = p.source == WeightOrder::OutputsFirst;
  if (!plain && p.layout != PackedLayout::Panels)
    return invalid_model("a weight in the order {} must be packed in {}", choice_name(p.source),
                         choice_name(PackedLayout::Panels));
  if (p.source == WeightOrder::DepthFirst && p.groups != 1)
    return invalid_model("a matrix [K, N] must be packed as one group, not as {}", p.groups);
  if (!w) return {};
  const bool matrix = p.source == WeightOrder::DepthFirst;
  if (w->empty() || (!plain && w->size() < 2) || (matrix && w->size() != 2))
    return invalid_model("weights of shape {} cannot be packed from the order {}", shape_text(*w),
                         choice_name(p.source));
  return p.source == WeightOrder::InputsFirst ? check_groups(p.groups, (*w)[0]) : Status();
}

Status infer_pack_panels(InferContext& c) {
  const auto& p = c.params<PackPanelsParams>();
  TN_RETURN_IF_ERROR(check_source(p, c.shape(0) ? &*c.shape(0) : nullptr));
  TN_RETURN_IF_ERROR(check_floats(c));
  if (!c.shape(0)) {
    c.out(0, DType::Float32, std::nullopt);
    return {};
  }
  const Shape& w = *c.shape(0);
  const auto [outputs, depth] = weight_extents(p, w);
  TN_RETURN_IF_ERROR(check_groups(p.groups, outputs));
  TN_RETURN_IF_ERROR(expect_shape(c, 1, "the scale", {outputs}));
  if (winograd_outputs(p.layout) > 0) {
    const size_t rank = w.size();
    if (p.groups != 1 || rank < 4 || rank > 5 || differ(w[rank - 2], Dim(3)) || differ(w[rank - 1], Dim(3)))
      return invalid_model("weights of shape {} in {} groups cannot be packed as {}; they must be 3x3 in one group",
                           shape_text(w), p.groups, choice_name(p.layout));
    const Dim k = rank == 5 ? w[2] * w[1] : w[1];
    c.out(0, DType::Float32, Shape{Dim(winograd_points(p.layout)), panels_of(outputs), k, Dim(kPanelWidth)});
  } else if (p.layout == PackedLayout::Depthwise)
    c.out(0, DType::Float32, Shape{panels_of(outputs), depth, Dim(kPanelWidth)});
  else
    c.out(0, DType::Float32,
          Shape{Dim(p.groups), panels_of(floor_div(outputs, Dim(p.groups))), depth, Dim(kPanelWidth)});
  return {};
}

Status infer_packed_matmul(InferContext& c) {
  const auto& p = c.params<PackedMatMulParams>();
  TN_RETURN_IF_ERROR(check_floats(c));
  TN_RETURN_IF_ERROR(check_bounds(c, p.activation));
  const size_t count = p.columns.size();
  if (count == 0 || c.output_count() > count || c.input_count() > packed_bias_input(count - 1) + (count == 1 ? 3 : 1))
    return invalid_model("{} weights do not match {} inputs and {} outputs", count, c.input_count(), c.output_count());
  for (size_t i = 0; i < count; ++i) {
    const int64_t n = p.columns[i];
    if (n < 0 || p.k < 0) return invalid_model("a weight cannot have the size {} x {}", p.k, n);
    if (!c.has(packed_weight_input(i))) return invalid_model("packed weight {} is missing", i);
    TN_RETURN_IF_ERROR(expect_shape(c, packed_weight_input(i), "the packed weight",
                                    {Dim(1), panels_of(Dim(n)), Dim(p.k), Dim(kPanelWidth)}));
    TN_RETURN_IF_ERROR(expect_shape(c, packed_bias_input(i), "the bias", {Dim(n)}));
  }
  const Shape* x = c.shape(0) ? &*c.shape(0) : nullptr;
  if (x && (x->empty() || differ(x->back(), Dim(p.k))))
    return invalid_model("the last extent of the input {} must be {}", shape_text(*x), p.k);
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (!x) {
      c.out(i, DType::Float32, std::nullopt);
      continue;
    }
    Shape shape = *x;
    shape.back() = Dim(p.columns[i]);
    c.out(i, DType::Float32, std::move(shape));
  }
  return {};
}

bool steps_by_one(const std::vector<int64_t>& steps) {
  return std::ranges::all_of(steps, [](int64_t step) { return step == 1; });
}

Status check_winograd(const ConvParams& p, PackedLayout layout) {
  if (p.group == 1 && is_winograd_kernel(p.window.kernel_shape) && steps_by_one(p.window.strides) &&
      steps_by_one(p.window.dilations))
    return {};
  return invalid_model("weights that are packed as {} need a 3x3 kernel, steps of 1 and one group",
                       choice_name(layout));
}

// [groups, panels, k, 16] of a weight whose K is (channel of the group, tap).
Shape panel_shape(int64_t group, const Dim& outputs, const Dim& input_channels, int64_t taps) {
  const Dim depth = floor_div(input_channels, Dim(group)) * Dim(taps);
  return {Dim(group), panels_of(floor_div(outputs, Dim(group))), depth, Dim(kPanelWidth)};
}

// The shape of the packed weight; input channels may be unknown.
Result<Shape> packed_conv_shape(const PackedConvParams& p, const Dim& input_channels) {
  const Dim group(p.conv.group), outputs(p.output_channels);
  const auto taps = checked_product(p.conv.window.kernel_shape);
  if (!taps) return invalid_model("the kernel is too large");
  if (p.layout == PackedLayout::Depthwise) {
    if (differ(input_channels, group))
      return invalid_model("{} channels in {} groups are not a depthwise convolution", input_channels.to_string(),
                           p.conv.group);
    return Shape{panels_of(outputs), Dim(*taps), Dim(kPanelWidth)};
  }
  if (winograd_outputs(p.layout) > 0) {
    TN_RETURN_IF_ERROR(check_winograd(p.conv, p.layout));
    const Dim k = Dim(winograd_slices(p.conv.window.kernel_shape)) * input_channels;
    return Shape{Dim(winograd_points(p.layout)), panels_of(outputs), k, Dim(kPanelWidth)};
  }
  return panel_shape(p.conv.group, outputs, input_channels, *taps);
}

// What convolutions in both directions ask of their operands but the packed weight.
template <class P>
Status check_convolution(InferContext& c, const P& p) {
  TN_RETURN_IF_ERROR(check_floats(c));
  TN_RETURN_IF_ERROR(check_bounds(c, p.activation));
  if (p.output_channels < 0)
    return invalid_model("'output_channels' is {}; it must not be negative", p.output_channels);
  TN_RETURN_IF_ERROR(check_groups(p.conv.group, Dim(p.output_channels)));
  TN_RETURN_IF_ERROR(expect_shape(c, 2, "the bias", {Dim(p.output_channels)}));
  if (!c.shape(0)) return {};
  const Shape& x = *c.shape(0);
  if (x.size() < 3 || x.size() > 5)
    return unsupported("a packed convolution has 1 to 3 spatial axes, but the shape of the input is {}", shape_text(x));
  return check_groups(p.conv.group, x[1]);
}

Status infer_packed_conv(InferContext& c) {
  const auto& p = c.params<PackedConvParams>();
  TN_RETURN_IF_ERROR(check_convolution(c, p));
  if (!c.shape(0)) {
    c.out(0, DType::Float32, std::nullopt);
    return {};
  }
  const Shape& x = *c.shape(0);
  TN_ASSIGN_OR_RETURN(Window window, make_window(p.conv.window, x.size() - 2));
  TN_ASSIGN_OR_RETURN(Shape packed, packed_conv_shape(p, x[1]));
  TN_RETURN_IF_ERROR(expect_shape(c, 1, "the packed weight", packed));
  Shape y = window_output_shape(window, x, Dim(p.output_channels));
  TN_RETURN_IF_ERROR(expect_shape(c, kPackedAddend, "the addend", y));
  c.out(0, DType::Float32, std::move(y));
  return {};
}

Status infer_packed_conv_transpose(InferContext& c) {
  const auto& p = c.params<PackedConvTransposeParams>();
  TN_RETURN_IF_ERROR(check_convolution(c, p));
  if (!c.shape(0)) {
    c.out(0, DType::Float32, std::nullopt);
    return {};
  }
  const Shape& x = *c.shape(0);
  const auto& kernel = p.conv.window.kernel_shape;
  const auto taps = checked_product(kernel);
  if (!taps) return invalid_model("the kernel is too large");
  TN_ASSIGN_OR_RETURN(const auto window, transposed_window(p.conv, std::span(x).subspan(2), kernel));
  TN_RETURN_IF_ERROR(
      expect_shape(c, 1, "the packed weight", panel_shape(p.conv.group, Dim(p.output_channels), x[1], *taps)));
  Shape y{x[0], Dim(p.output_channels)};
  y.insert(y.end(), window.output.begin(), window.output.end());
  c.out(0, DType::Float32, std::move(y));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::PackPanels>() {
  return define<PackPanelsParams>({.inputs = {1, 2}, .outputs = {1, 1}, .infer = infer_pack_panels});
}

template <>
OpDef op_definition<OpId::PackedMatMul>() {
  return define<PackedMatMulParams>(
      {.inputs = {2, kVariadic}, .outputs = {1, kVariadic}, .infer = infer_packed_matmul});
}

template <>
OpDef op_definition<OpId::PackedConv>() {
  return define<PackedConvParams>({.inputs = {2, 6}, .outputs = {1, 1}, .infer = infer_packed_conv});
}

template <>
OpDef op_definition<OpId::PackedConvTranspose>() {
  return define<PackedConvTransposeParams>({.inputs = {2, 5}, .outputs = {1, 1}, .infer = infer_packed_conv_transpose});
}

}  // namespace tenon
