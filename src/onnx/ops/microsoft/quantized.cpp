// Ops on quantized tensors: dequantize, compute, quantize.
#include "onnx/ops/any_rank.h"
#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/activation.h"
#include "ops/concat.h"
#include "ops/pooling.h"
#include "ops/quantize.h"
#include "ops/reduction.h"
#include "ops/softmax.h"

namespace tenon {

namespace {

// Inputs first, first + 1 and first + 2 are a tensor, its scale and its zero point, which may be absent.
ValueId dequantized(ImportNode& n, size_t first) {
  return n.emit1(OpId::DequantizeLinear, default_params(OpId::DequantizeLinear),
                 {n.input(first), n.input(first + 1), n.input(first + 2)});
}

// The result in the quantized type of `like`, by the scale and zero point at inputs first and first + 1.
void finish_quantized(ImportNode& n, ValueId result, size_t first, ValueId like) {
  QuantizeLinearParams params;
  if (n.input(first + 1) == kNone) params.output_dtype = n.type(like).dtype;
  n.finish(n.emit(OpId::QuantizeLinear, Params::of(params), {result, n.input(first), n.input(first + 1)}));
}

template <OpId op>
void import_binary_quantized(ImportNode& n) {
  const ValueId a = dequantized(n, 0), b = dequantized(n, 3);
  finish_quantized(n, emit::plain(n, op, a, b), 6, n.input(0));
}

void import_where(ImportNode& n) {
  const ValueId x = dequantized(n, 1), y = dequantized(n, 4);
  finish_quantized(n, n.emit1(OpId::Where, default_params(OpId::Where), {n.input(0), x, y}), 7, n.input(1));
}

// The output's scale and zero point come first, then three inputs for every part.
void import_concat(ImportNode& n) {
  const Params params = n.read_params(OpId::Concat);
  if (n.input_count() < 5 || (n.input_count() - 2) % 3 != 0)
    return n.fail(invalid_model(
        "there are {} inputs; there must be a scale, a zero point and three inputs for each part", n.input_count()));
  std::vector<ValueId> parts;
  for (size_t first = 2; first < n.input_count(); first += 3) parts.push_back(dequantized(n, first));
  finish_quantized(n, n.emit1(OpId::Concat, params, std::move(parts)), 0, n.input(2));
}

void import_sigmoid(ImportNode& n) {
  finish_quantized(n, emit::plain(n, OpId::Sigmoid, dequantized(n, 0)), 3, n.input(0));
}

void import_leaky_relu(ImportNode& n) {
  const Params params = n.read_params(OpId::LeakyRelu);
  finish_quantized(n, n.emit1(OpId::LeakyRelu, params, {dequantized(n, 0)}), 3, n.input(0));
}

// 'opset' tells which Softmax was quantized: before 13 all axes from `axis` on count as one.
void import_softmax(ImportNode& n) {
  const int64_t axis = n.int_attribute("axis", -1);
  const ValueId x = dequantized(n, 0);
  ValueId y;
  if (n.int_attribute("opset", 13) < 13)
    y = emit::softmax_from(n, x, axis);
  else
    y = n.emit1(OpId::Softmax, Params::of(SoftmaxParams{axis}), {x});
  finish_quantized(n, y, 3, n.input(0));
}

void import_pool(ImportNode& n, OpId op, const Params& params) {
  ValueId x = dequantized(n, 0);
  if (n.int_attribute("channels_last", 0) == 0) return finish_quantized(n, n.emit1(op, params, {x}), 3, n.input(0));
  x = n.emit1(op, params, {to_channels_first(n, x)});
  finish_quantized(n, to_channels_last(n, x), 3, n.input(0));
}

void import_average_pool(ImportNode& n) { import_pool(n, OpId::AveragePool, n.read_params(OpId::AveragePool)); }
void import_global_average_pool(ImportNode& n) {
  import_pool(n, OpId::GlobalAveragePool, default_params(OpId::GlobalAveragePool));
}

// A reduction whose axes are an attribute.
ValueId reduced(ImportNode& n, OpId op, ValueId x) {
  ReductionParams params;
  params.keepdims = n.int_attribute("keepdims", 1) != 0;
  return n.emit1(op, Params::of(params), {x, n.int_constant(n.ints_attribute("axes"))});
}

void import_reduce_mean(ImportNode& n) {
  finish_quantized(n, reduced(n, OpId::ReduceMean, dequantized(n, 0)), 3, n.input(0));
}

void import_reduce_sum_integer(ImportNode& n) {
  const DType dtype = n.type(n.input(0)).dtype;
  if (dtype != DType::Int8 && dtype != DType::UInt8)
    return n.fail(invalid_model("input 0 is {}; it must be int8 or uint8", dtype_name(dtype)));
  const ValueId wide = emit::cast(n, n.input(0), dtype == DType::Int8 ? DType::Int32 : DType::UInt32);
  n.finish({reduced(n, OpId::ReduceSum, wide)});
}

}  // namespace

void map_microsoft_quantized(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "QLinearAdd", OpId::Add, import_binary_quantized<OpId::Add>);
  map.custom(kMicrosoftDomain, "QLinearMul", OpId::Mul, import_binary_quantized<OpId::Mul>);
  map.custom(kMicrosoftDomain, "QLinearWhere", OpId::Where, import_where);
  map.custom(kMicrosoftDomain, "QLinearConcat", OpId::Concat, import_concat);
  map.custom(kMicrosoftDomain, "QLinearSigmoid", OpId::Sigmoid, import_sigmoid);
  map.custom(kMicrosoftDomain, "QLinearLeakyRelu", OpId::LeakyRelu, import_leaky_relu);
  map.custom(kMicrosoftDomain, "QLinearSoftmax", OpId::Softmax, import_softmax);
  map.custom(kMicrosoftDomain, "QLinearAveragePool", OpId::AveragePool, import_average_pool);
  map.custom(kMicrosoftDomain, "QLinearGlobalAveragePool", OpId::GlobalAveragePool, import_global_average_pool);
  map.custom(kMicrosoftDomain, "QLinearReduceMean", OpId::ReduceMean, import_reduce_mean);
  map.custom(kMicrosoftDomain, "ReduceSumInteger", OpId::ReduceSum, import_reduce_sum_integer);
}

}  // namespace tenon
