#include "ops/convolution.h"

#include <algorithm>

#include "ops/shape_checks.h"

namespace tenon {

namespace {

// The spatial part of a weight's shape when it is known, else the attribute's.
std::optional<std::vector<int64_t>> kernel_extents(const Shape* weight, const std::vector<int64_t>& attribute) {
  if (!weight) return attribute.empty() ? std::nullopt : std::optional(attribute);
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < weight->size(); ++i) {
    if (!(*weight)[i].is_constant()) return attribute.empty() ? std::nullopt : std::optional(attribute);
    kernel.push_back((*weight)[i].value());
  }
  return kernel;
}

Status check_ranks(InferContext& c, size_t x, size_t w) {
  const auto rank = c.rank(x);
  if (rank && *rank < 3)
    return invalid_model("input {} must be [batch, channels, spatial...], but it is {}", x, c.in(x).to_string());
  if (c.rank(w) && *c.rank(w) < 3)
    return invalid_model("the weights must be [channels, channels, spatial...], but they are {}", c.in(w).to_string());
  if (rank && c.rank(w) && *c.rank(w) != *rank)
    return invalid_model("the input has rank {}, but the weights have rank {}", *rank, *c.rank(w));
  return {};
}

Status check_group(int64_t group, const Dim& channels, const char* what) {
  if (group < 1) return invalid_model("'group' is {}; it must be at least 1", group);
  if (channels.is_constant() && channels.value() % group != 0)
    return invalid_model("{} {} cannot be divided evenly into {} groups", channels.value(), what, group);
  return {};
}

Status check_conv_types(InferContext& c, size_t inputs) {
  for (size_t i = 0; i < inputs; ++i) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
  }
  return {};
}

Status infer_conv(InferContext& c) {
  const auto& p = c.params<ConvParams>();
  TN_RETURN_IF_ERROR(check_conv_types(c, 3));
  TN_ASSIGN_OR_RETURN(auto shape, conv_output_shape(c, p, 0, 1));
  if (c.shape(1)) TN_RETURN_IF_ERROR(expect_shape(c, 2, "the bias", {(*c.shape(1))[0]}));
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

}  // namespace

Result<std::optional<Shape>> conv_output_shape(InferContext& c, const ConvParams& p, size_t x, size_t w) {
  TN_RETURN_IF_ERROR(check_ranks(c, x, w));
  const Shape *input = c.shape(x), *weight = c.shape(w);
  TN_RETURN_IF_ERROR(check_group(p.group, weight ? (*weight)[0] : Dim(0), "output channels"));
  if (input && weight) {
    const Dim expected = (*weight)[1] * Dim(p.group);
    if (differ((*input)[1], expected))
      return invalid_model("the input has {} channels, but weights of shape {} in {} groups need {}",
                           (*input)[1].to_string(), shape_text(*weight), p.group, expected.to_string());
  }
  const auto kernel = kernel_extents(weight, p.window.kernel_shape);
  // A kernel_shape that the weight contradicts is refused whatever the input is.
  if (!input && weight && kernel) TN_RETURN_IF_ERROR(make_window(p.window, weight->size() - 2, *kernel).status());
  if (!input) return std::optional<Shape>();
  const Dim channels = weight ? (*weight)[0] : c.fresh_symbol();
  if (!kernel) {
    Shape open = c.fresh_shape(input->size());
    open[0] = (*input)[0];
    open[1] = channels;
    return std::optional(std::move(open));
  }
  TN_ASSIGN_OR_RETURN(Window window, make_window(p.window, input->size() - 2, *kernel));
  return std::optional(window_output_shape(window, *input, channels));
}

namespace {

// The elements of a filter that meet in one result, for weights with the results of a group along an axis.
double count_window_terms(std::span<const Type* const> inputs, size_t result_axis) {
  const Shape* weight = known_shape(inputs, 1);
  if (!weight || weight->size() < 2) return kManyTerms;
  const Dim all = element_count(*weight);
  const Dim& results = (*weight)[result_axis];
  if (!all.is_constant() || !results.is_constant() || results.value() <= 0) return kManyTerms;
  return static_cast<double>(all.value()) / static_cast<double>(results.value());
}
double count_filter_terms(std::span<const Type* const> inputs) { return count_window_terms(inputs, 0); }
double count_transposed_filter_terms(std::span<const Type* const> inputs) { return count_window_terms(inputs, 1); }

}  // namespace

template <>
OpDef op_definition<OpId::Conv>() {
  return define<ConvParams>(
      {.inputs = {2, 3}, .outputs = {1, 1}, .infer = infer_conv, .rounding = rounded_products(count_filter_terms)});
}

namespace {

Result<std::vector<int64_t>> spatial_list(const std::vector<int64_t>& values, const char* name, size_t rank,
                                          bool full_shape_allowed) {
  std::vector<int64_t> result = values;
  if (full_shape_allowed && result.size() == rank + 2) result.erase(result.begin(), result.begin() + 2);
  if (!result.empty() && result.size() != rank)
    return invalid_model("'{}' has {} entries, but there are {} spatial axes", name, values.size(), rank);
  for (int64_t v : result)
    if (v < 0 || v >= int64_t{1} << 31) return invalid_model("'{}' contains {}, which is out of range", name, v);
  return result;
}

}  // namespace

Result<TransposedWindow> transposed_window(const ConvTransposeParams& p, std::span<const Dim> input,
                                           std::span<const int64_t> kernel) {
  TransposedWindow result;
  TN_ASSIGN_OR_RETURN(result.window, make_window(p.window, input.size(), kernel));
  TN_ASSIGN_OR_RETURN(auto padding, spatial_list(p.output_padding, "output_padding", input.size(), false));
  TN_ASSIGN_OR_RETURN(auto wanted, spatial_list(p.output_shape, "output_shape", input.size(), true));
  const AutoPad auto_pad = result.window.auto_pad;
  const bool same = auto_pad == AutoPad::SameUpper || auto_pad == AutoPad::SameLower;
  for (size_t i = 0; i < input.size(); ++i) {
    WindowAxis& axis = result.window.axes[i];
    const Dim full =
        Dim(axis.stride) * (input[i] - Dim(1)) + Dim(padding.empty() ? 0 : padding[i]) + Dim(axis.extent());
    if (full.is_invalid()) return invalid_model("the output extent on spatial axis {} is too large", i);
    if (wanted.empty() && !same) {
      result.output.push_back(full - Dim(axis.pad_begin) - Dim(axis.pad_end));
      continue;
    }
    result.output.push_back(wanted.empty() ? input[i] * Dim(axis.stride) : Dim(wanted[i]));
    // The padding follows from the wanted extent; what the input cannot reach stays at the end.
    const Dim total = full - result.output.back();
    if (!total.is_constant() || total.is_invalid()) continue;
    const int64_t cut = std::max<int64_t>(0, total.value());
    axis.pad_begin = auto_pad == AutoPad::SameUpper ? cut / 2 : cut - cut / 2;
    axis.pad_end = cut - axis.pad_begin;
  }
  result.window.auto_pad = AutoPad::NotSet;
  return result;
}

namespace {

Status infer_conv_transpose(InferContext& c) {
  const auto& p = c.params<ConvTransposeParams>();
  TN_RETURN_IF_ERROR(check_conv_types(c, 3));
  TN_RETURN_IF_ERROR(check_ranks(c, 0, 1));
  const Shape *input = c.shape(0), *weight = c.shape(1);
  TN_RETURN_IF_ERROR(check_group(p.group, weight ? (*weight)[0] : Dim(0), "input channels"));
  if (input && weight && differ((*input)[1], (*weight)[0]))
    return invalid_model("the input has {} channels, but weights of shape {} need {}", (*input)[1].to_string(),
                         shape_text(*weight), (*weight)[0].to_string());
  const Dim channels = weight ? (*weight)[1] * Dim(p.group) : c.fresh_symbol();
  TN_RETURN_IF_ERROR(expect_shape(c, 2, "the bias", {channels}));
  const auto kernel = kernel_extents(weight, p.window.kernel_shape);
  // A kernel_shape that the weight contradicts is refused whatever the input is.
  if (!input && weight && kernel) TN_RETURN_IF_ERROR(make_window(p.window, weight->size() - 2, *kernel).status());
  if (!input) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  Shape shape{(*input)[0], channels};
  if (kernel) {
    TN_ASSIGN_OR_RETURN(auto window, transposed_window(p, std::span(*input).subspan(2), *kernel));
    shape.insert(shape.end(), window.output.begin(), window.output.end());
  } else {
    while (shape.size() < input->size()) shape.push_back(c.fresh_symbol());
  }
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

// A sample between grid points reads 2^axes of them.
constexpr int64_t kMostDeformedAxes = 8;

Status infer_deform_conv(InferContext& c) {
  const auto& p = c.params<DeformConvParams>();
  TN_RETURN_IF_ERROR(check_conv_types(c, 5));
  if (c.rank(0) && *c.rank(0) > 2 + kMostDeformedAxes)
    return unsupported("DeformConv supports at most {} spatial axes", kMostDeformedAxes);
  TN_ASSIGN_OR_RETURN(auto shape, conv_output_shape(c, {p.window(), p.group}, 0, 1));
  if (shape) TN_RETURN_IF_ERROR(check_group(p.offset_group, (*c.shape(0))[1], "channels"));
  if (shape && c.shape(1)) {
    const Shape& weight = *c.shape(1);
    Dim taps(p.offset_group);
    for (size_t i = 2; i < weight.size(); ++i) taps = taps * weight[i];
    Shape mask = *shape, offset = *shape;
    mask[1] = taps;
    offset[1] = taps * Dim(static_cast<int64_t>(weight.size()) - 2);
    TN_RETURN_IF_ERROR(expect_shape(c, 2, "the offset", offset));
    TN_RETURN_IF_ERROR(expect_shape(c, 4, "the mask", mask));
    TN_RETURN_IF_ERROR(expect_shape(c, 3, "the bias", {weight[0]}));
  }
  c.out(0, c.dtype(0), std::move(shape));
  return {};
}

Status infer_causal_conv(InferContext& c) {
  const auto& [activation, state_window] = c.params<CausalConvParams>();
  if (activation != "none" && activation != "silu" && activation != "swish")
    return invalid_model("activation is '{}'; it must be 'none', 'silu' or 'swish'", activation);
  TN_RETURN_IF_ERROR(check_state_window(state_window));
  TN_RETURN_IF_ERROR(check_conv_types(c, 4));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 3));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 3));
  c.out(0, c.in(0));
  if (!c.shape(0) || !c.shape(1)) {
    c.out(1, c.dtype(0), std::nullopt);
    return {};
  }
  const Shape &x = *c.shape(0), &w = *c.shape(1);
  if (differ(x[1], w[0]) || differ(w[1], Dim(1)) || w[2].equals(0))
    return invalid_model("the weights must have the shape [{}, 1, k], but they have {}", x[1].to_string(),
                         shape_text(w));
  TN_RETURN_IF_ERROR(expect_shape(c, 2, "the bias", {x[1]}));
  Shape state{x[0], x[1], w[2] - Dim(1)};
  if (state_window > 0) state.insert(state.begin(), Dim(state_window));
  TN_RETURN_IF_ERROR(expect_shape(c, 3, "past_state", state));
  c.out(1, c.dtype(0), state);
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::ConvTranspose>() {
  return define<ConvTransposeParams>({.inputs = {2, 3},
                                      .outputs = {1, 1},
                                      .infer = infer_conv_transpose,
                                      .rounding = rounded_products(count_transposed_filter_terms)});
}

template <>
OpDef op_definition<OpId::DeformConv>() {
  return define<DeformConvParams>({.inputs = {3, 5}, .outputs = {1, 1}, .infer = infer_deform_conv});
}

template <>
OpDef op_definition<OpId::CausalConvWithState>() {
  return define<CausalConvParams>({.inputs = {2, 4}, .outputs = {1, 2}, .infer = infer_causal_conv});
}

}  // namespace tenon
