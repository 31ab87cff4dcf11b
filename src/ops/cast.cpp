#include "ops/cast.h"

#include "ops/broadcasting.h"

namespace tenon {

namespace {

constexpr TypeSet kCastable = kNumbers | kSmallFloats | kSubByteInts | kBool | kStrings;

Status infer_cast_to(InferContext& c, DType to, const CastLikeParams& params) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kCastable));
  if (params.round_mode != "up" && params.round_mode != "down" && params.round_mode != "nearest")
    return invalid_model("attribute 'round_mode' is '{}'; it must be 'up', 'down' or 'nearest'", params.round_mode);
  c.out(0, to, c.in(0).shape);
  // From and to integers, contents that fit stay what they are.
  auto known = (is_integer(c.dtype(0)) || c.dtype(0) == DType::Bool) && is_integer(to) ? c.propagated(0) : std::nullopt;
  if (!known) return {};
  for (const Dim& d : *known)
    if (d.is_constant() && !holds(to, d.value())) return {};
  c.out_values(0, std::move(*known));
  return {};
}

Status infer_cast(InferContext& c) {
  const auto& params = c.params<CastParams>();
  if (!kCastable.has(params.to))
    return invalid_model("attribute 'to' is {}; the types that Cast can produce are {}", dtype_name(params.to),
                         kCastable.to_string());
  return infer_cast_to(c, params.to, params);
}

Status infer_cast_like(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kCastable));
  return infer_cast_to(c, c.dtype(1), c.params<CastLikeParams>());
}

Status infer_bit_split(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, {DType::UInt8, DType::Int8}));
  const DType to = c.params<BitCastParams>().to;
  if (!kSubByteInts.has(to))
    return invalid_model("bytes can be split into {}, but not into {}", kSubByteInts.to_string(), dtype_name(to));
  std::optional<Shape> shape = c.in(0).shape;
  if (shape && shape->empty())
    return invalid_model("the input must have an axis for the parts of a byte, but it is a scalar");
  if (shape) shape->back() = shape->back() * Dim(8 / dtype_bits(to));
  c.out(0, to, std::move(shape));
  return {};
}

Status infer_bit_cast(InferContext& c) {
  if (c.params<BitCastParams>().split) return infer_bit_split(c);
  constexpr TypeSet allowed = kNumbers | kSmallFloats | kSubByteInts | kBool | kComplex;
  TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
  const DType from = c.dtype(0), to = c.params<BitCastParams>().to;
  if (!allowed.has(to))
    return invalid_model("attribute 'to' is {}; the types that BitCast can produce are {}", dtype_name(to),
                         allowed.to_string());
  if (from != DType::Undefined && dtype_bits(from) != dtype_bits(to))
    return invalid_model("{} has {} bits, but {} has {}; BitCast needs types of the same width", dtype_name(from),
                         dtype_bits(from), dtype_name(to), dtype_bits(to));
  c.out(0, to, c.in(0).shape);
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Cast>() {
  return define<CastParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_cast});
}

template <>
OpDef op_definition<OpId::CastLike>() {
  return define<CastLikeParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_cast_like});
}

template <>
OpDef op_definition<OpId::BitCast>() {
  return define<BitCastParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_bit_cast});
}

}  // namespace tenon
