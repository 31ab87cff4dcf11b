#include "onnx/ops/microsoft/emit.h"

#include "onnx/ops/constant_numbers.h"
#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/fill.h"
#include "ops/flatten.h"
#include "ops/gather.h"
#include "ops/infer.h"
#include "ops/quantize.h"
#include "ops/reshape.h"
#include "ops/softmax.h"
#include "ops/transpose.h"

namespace tenon::emit {

ValueId plain(ImportNode& n, OpId op, ValueId x) { return n.emit1(op, default_params(op), {x}); }
ValueId plain(ImportNode& n, OpId op, ValueId a, ValueId b) { return n.emit1(op, default_params(op), {a, b}); }

ValueId add(ImportNode& n, ValueId a, ValueId b) { return b == kNone ? a : plain(n, OpId::Add, a, b); }

ValueId cast(ImportNode& n, ValueId x, DType to) {
  if (x == kNone || n.type(x).dtype == to) return x;
  CastParams params;
  params.to = to;
  return n.emit1(OpId::Cast, Params::of(std::move(params)), {x});
}

ValueId scale(ImportNode& n, ValueId x, float factor) {
  if (factor == 1) return x;
  const ValueId number = n.constant(Tensor::of<float>({}, std::span<const float>(&factor, 1)));
  const DType dtype = n.type(x).dtype;
  if (dtype == DType::Undefined)
    return plain(n, OpId::Mul, x, n.emit1(OpId::CastLike, default_params(OpId::CastLike), {number, x}));
  return plain(n, OpId::Mul, x, cast(n, number, dtype));
}

ValueId transpose(ImportNode& n, ValueId x, std::vector<int64_t> perm) {
  return n.emit1(OpId::Transpose, Params::of(TransposeParams{std::move(perm)}), {x});
}

ValueId reshape(ImportNode& n, ValueId x, const std::vector<int64_t>& dims) {
  return n.emit1(OpId::Reshape, default_params(OpId::Reshape), {x, n.int_constant(dims)});
}

ValueId reshape_like(ImportNode& n, ValueId x, ValueId like) {
  ReshapeParams params;
  params.allowzero = true;
  return n.emit1(OpId::Reshape, Params::of(params), {x, plain(n, OpId::Shape, like)});
}

ValueId unsqueeze(ImportNode& n, ValueId x, const std::vector<int64_t>& axes) {
  return n.emit1(OpId::Unsqueeze, default_params(OpId::Unsqueeze), {x, n.int_constant(axes)});
}

ValueId softmax_from(ImportNode& n, ValueId x, int64_t axis) {
  const Params along_last = Params::of(SoftmaxParams{-1});
  const auto rank = n.rank(x);
  if (rank && axis != -1) {
    const auto first = normalize_axis(axis, *rank);
    if (!first.ok()) return n.fail(first.status()), x;
    axis = *first - *rank;
  }
  if (axis == -1) return n.emit1(OpId::Softmax, along_last, {x});
  const ValueId matrix = n.emit1(OpId::Flatten, Params::of(FlattenParams{axis}), {x});
  return reshape_like(n, n.emit1(OpId::Softmax, along_last, {matrix}), x);
}

ValueId swish(ImportNode& n, ValueId x, float alpha) {
  return n.emit1(OpId::Swish, Params::of(SwishParams{alpha}), {x});
}

ValueId gather(ImportNode& n, ValueId x, ValueId indices, int64_t axis) {
  return n.emit1(OpId::Gather, Params::of(GatherParams{axis}), {x, indices});
}

ValueId first(ImportNode& n, ValueId x, int64_t axis, int64_t count) {
  return n.emit1(OpId::Slice, default_params(OpId::Slice),
                 {x, n.int_constant({0}), n.int_constant({count}), n.int_constant({axis})});
}

ValueId dequantize(ImportNode& n, const Quantized& q, int64_t axis, int64_t block_size, DType to) {
  return n.emit1(OpId::DequantizeLinear, Params::of(DequantizeLinearParams{axis, block_size, to}),
                 {q.x, q.scale, q.zero});
}

ValueId unpacked(ImportNode& n, ValueId bytes, int64_t bits) {
  if (bits == 8) return bytes;
  return n.emit1(OpId::BitCast, Params::of(BitCastParams{bits == 4 ? DType::UInt4 : DType::UInt2, true}), {bytes});
}

ValueId middle(ImportNode& n, ValueId shape, int64_t bits) {
  const auto filled = [&](auto number) {
    const Tensor value = Tensor::of<decltype(number)>({1}, std::span(&number, 1));
    return n.emit1(OpId::ConstantOfShape, Params::of(ConstantOfShapeParams{value}), {shape});
  };
  return bits == 8 ? filled(uint8_t{128}) : bits == 4 ? filled(UInt4(8)) : filled(UInt2(2));
}

namespace {

// Params with a field alpha, which is given or keeps its default.
template <class P>
Params with_alpha(const Activation& a) {
  P params;
  params.alpha = a.alpha.value_or(params.alpha);
  return Params::of(params);
}

}  // namespace

ValueId activation(ImportNode& n, ValueId x, const Activation& a) {
  if (a.name.empty()) return x;
  for (OpId op : {OpId::Relu, OpId::Sigmoid, OpId::Tanh, OpId::Softplus, OpId::Softsign, OpId::HardSwish})
    if (a.name == op_def(op).name) return plain(n, op, x);
  if (a.name == "LeakyRelu") return n.emit1(OpId::LeakyRelu, with_alpha<LeakyReluParams>(a), {x});
  if (a.name == "Elu") return n.emit1(OpId::Elu, with_alpha<EluParams>(a), {x});
  if (a.name == "Celu") return n.emit1(OpId::Celu, with_alpha<CeluParams>(a), {x});
  if (a.name == "ThresholdedRelu") return n.emit1(OpId::ThresholdedRelu, with_alpha<ThresholdedReluParams>(a), {x});
  if (a.name == "HardSigmoid") {
    HardSigmoidParams params;
    params.alpha = a.alpha.value_or(params.alpha);
    params.beta = a.beta.value_or(params.beta);
    return n.emit1(OpId::HardSigmoid, Params::of(params), {x});
  }
  if (a.name == "Clip") {
    const auto limit = [&](std::optional<float> x_limit) {
      return x_limit ? number_constant(n, n.type(x).dtype, *x_limit) : kNone;
    };
    const ValueId low = limit(a.alpha), high = limit(a.beta);
    return n.emit1(OpId::Clip, default_params(OpId::Clip), {x, low, high});
  }
  if (a.name == "Selu") {
    SeluParams params;
    params.alpha = a.alpha.value_or(params.alpha);
    params.gamma = a.gamma.value_or(params.gamma);
    return n.emit1(OpId::Selu, Params::of(params), {x});
  }
  return n.fail(unsupported("unknown activation '{}'", a.name)), x;
}

ValueId scaled_product(ImportNode& n, std::vector<ValueId> operands, ValueId a_scale, ValueId b_scale, ValueId bias) {
  const auto wide = [&](ValueId x) { return cast(n, x, DType::Float32); };
  const DType dtype = n.type(a_scale).dtype;
  const ValueId product = n.emit1(OpId::MatMulInteger, default_params(OpId::MatMulInteger), std::move(operands));
  const ValueId factor = plain(n, OpId::Mul, wide(a_scale), wide(b_scale));
  const ValueId sum = add(n, plain(n, OpId::Mul, wide(product), factor), wide(bias));
  return dtype == DType::Undefined ? sum : cast(n, sum, dtype);
}

}  // namespace tenon::emit
