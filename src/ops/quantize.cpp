#include "ops/quantize.h"

#include <algorithm>

#include "ops/accepted.h"
#include "ops/infer.h"

namespace tenon {

namespace {

constexpr TypeSet kQuantized =
    kFloat8 | kSubByteInts | TypeSet{DType::Int8,       DType::UInt8,      DType::Int16,     DType::UInt16,
                                     DType::Float4E2M1, DType::Float6E2M3, DType::Float6E3M2};
constexpr TypeSet kScales = kFloats | TypeSet{DType::Float8E8M0, DType::Int32};

// Per block: the scale has the input's shape, with one entry per block along the axis.
Status check_blocks(const Shape& x, const Shape& scale, int64_t axis, int64_t block_size) {
  if (scale.size() != x.size())
    return invalid_model("blocks of {} elements need a scale of rank {}, but its shape is {}", block_size, x.size(),
                         shape_text(scale));
  for (size_t i = 0; i < x.size(); ++i) {
    const Dim wanted = static_cast<int64_t>(i) == axis ? ceil_div(x[i], Dim(block_size)) : x[i];
    if (wanted.is_constant() && scale[i].is_constant() && !(wanted == scale[i]))
      return invalid_model("a scale of shape {} does not match an input of shape {} with blocks of {} along axis {}",
                           shape_text(scale), shape_text(x), block_size, axis);
  }
  return {};
}

// One element, also where extents are open: binding decides.
bool may_be_one_element(const Shape& shape) {
  return std::ranges::all_of(shape, [](const Dim& d) { return !d.is_constant() || d.equals(1); });
}

// Input 1 is the scale of input 0, input 2 its zero point.
Status check_granularity(InferContext& c, int64_t axis, int64_t block_size) {
  if (block_size < 0) return invalid_model("attribute 'block_size' is {}; it must not be negative", block_size);
  const Shape *x = c.shape(0), *scale = c.shape(1), *zero = c.shape(2);
  if (scale && zero && !merge(Type::tensor(DType::Undefined, *scale), Type::tensor(DType::Undefined, *zero)) &&
      !(may_be_one_element(*scale) && may_be_one_element(*zero)))
    return invalid_model("the scale has the shape {} and the zero point has the shape {}; they must be the same",
                         shape_text(*scale), shape_text(*zero));
  if (!x || !scale || may_be_one_element(*scale)) return {};
  const auto rank = static_cast<int64_t>(x->size());
  if (rank == 0) return invalid_model("a scalar needs one scale, but the shape of the scale is {}", shape_text(*scale));
  if (block_size > 0 || rank > 1) {
    TN_ASSIGN_OR_RETURN(axis, normalize_axis(axis, rank));
  } else {
    axis = 0;
  }
  if (block_size > 0) return check_blocks(*x, *scale, axis, block_size);
  const Dim& extent = (*x)[static_cast<size_t>(axis)];
  if (scale->size() != 1 || (extent.is_constant() && (*scale)[0].is_constant() && !(extent == (*scale)[0])))
    return invalid_model(
        "the scale has the shape {}; it must be a scalar or have one entry for each of the {} positions along axis {}",
        shape_text(*scale), extent.to_string(), axis);
  return {};
}

Status infer_quantize(InferContext& c) {
  const auto& params = c.params<QuantizeLinearParams>();
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats | TypeSet{DType::Int32}));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kScales));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kQuantized));
  DType out = params.output_dtype;
  if (c.has(2)) {
    if (out != DType::Undefined && c.dtype(2) != DType::Undefined && out != c.dtype(2))
      return invalid_model("attribute 'output_dtype' is {}, but the zero point is {}", dtype_name(out),
                           dtype_name(c.dtype(2)));
    out = c.dtype(2);
  } else if (out == DType::Undefined) {
    out = DType::UInt8;
  }
  if (out != DType::Undefined && !kQuantized.has(out))
    return invalid_model("attribute 'output_dtype' is {}; the allowed types are {}", dtype_name(out),
                         kQuantized.to_string());
  if (params.precision != DType::Undefined && !kFloats.has(params.precision))
    return invalid_model("attribute 'precision' is {}; the allowed types are {}", dtype_name(params.precision),
                         kFloats.to_string());
  TN_RETURN_IF_ERROR(check_granularity(c, params.axis, params.block_size));
  c.out(0, out, c.in(0).shape);
  return {};
}

Status infer_dequantize(InferContext& c) {
  const auto& params = c.params<DequantizeLinearParams>();
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kQuantized | TypeSet{DType::Int32}));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kScales));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 2));
  DType out = params.output_dtype == DType::Undefined ? c.dtype(1) : params.output_dtype;
  if (out != DType::Undefined && !kFloats.has(out))
    return invalid_model("the output would be {}; the allowed types are {}", dtype_name(out), kFloats.to_string());
  TN_RETURN_IF_ERROR(check_granularity(c, params.axis, params.block_size));
  c.out(0, out, c.in(0).shape);
  return {};
}

Status infer_dynamic(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, {DType::Float32}));
  c.out(0, DType::UInt8, c.in(0).shape);
  c.out(1, DType::Float32, Shape{});
  c.out(2, DType::UInt8, Shape{});
  return {};
}

Accepted accepts_scale(const AcceptContext&, size_t input) {
  return input == 1 ? Accepted::range(0.01, 0.1) : Accepted{};
}

}  // namespace

template <>
OpDef op_definition<OpId::QuantizeLinear>() {
  return define<QuantizeLinearParams>({.inputs = {2, 3},
                                       .outputs = {1, 1},
                                       .infer = infer_quantize,
                                       .accepts = accepts_scale,
                                       .rounding = kRoundedToSteps});
}

template <>
OpDef op_definition<OpId::DequantizeLinear>() {
  return define<DequantizeLinearParams>({.inputs = {2, 3},
                                         .outputs = {1, 1},
                                         .infer = infer_dequantize,
                                         .accepts = accepts_scale,
                                         .rounding = kRoundedArithmetic});
}

template <>
OpDef op_definition<OpId::DynamicQuantizeLinear>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 3}, .infer = infer_dynamic, .rounding = kRoundedToSteps});
}

}  // namespace tenon
