// Quantization itself, and layers with quantized weights.
#include "onnx/ops/constant_numbers.h"
#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/quantize.h"
#include "ops/recurrent.h"

namespace tenon {

namespace {

void import_quantize_linear(ImportNode& n) {
  QuantizeLinearParams params;
  params.axis = n.int_attribute("axis", params.axis);
  n.finish(n.emit(OpId::QuantizeLinear, Params::of(params), n.inputs()));
}

void import_dequantize_linear(ImportNode& n) {
  n.finish({emit::dequantize(n, {n.input(0), n.input(1), n.input(2)}, n.int_attribute("axis", 1))});
}

ValueId transposed_if(ImportNode& n, ValueId matrix, bool transpose) {
  if (const auto rank = n.rank(matrix); rank && *rank != 2)
    n.fail(invalid_model("an operand has {} axes; the operands of QGemm must be matrices", *rank));
  return transpose ? emit::transpose(n, matrix, {1, 0}) : matrix;
}

// A bias is spread over the product, never the product over the bias.
void check_bias(ImportNode& n, ValueId bias, ValueId product) {
  const auto &from = n.type(bias).shape, &to = n.type(product).shape;
  if (!from || !to) return;
  bool fits = from->size() <= to->size();
  for (size_t i = 1; fits && i <= from->size(); ++i) {
    const Dim &given = (*from)[from->size() - i], &wanted = (*to)[to->size() - i];
    fits = given.equals(1) || !given.is_constant() || !wanted.is_constant() || given == wanted;
  }
  if (!fits)
    n.fail(invalid_model("C has the shape {}, which does not broadcast to {}", shape_text(*from), shape_text(*to)));
}

// Inputs: A, scale, zero point; B, scale, zero point; C in steps of both scales; the result's scale and zero point,
// without which it is float. One float factor takes integers to the result, as other runtimes round.
void import_q_gemm(ImportNode& n) {
  const bool trans_a = n.int_attribute("transA", 0) != 0, trans_b = n.int_attribute("transB", 0) != 0;
  const float alpha = n.float_attribute("alpha", 1);
  const ValueId c = n.input(6), y_scale = n.input(7), y_zero = n.input(8);
  if ((y_scale == kNone) != (y_zero == kNone))
    return n.fail(invalid_model("y_scale and y_zero_point must be given together"));
  const ValueId product =
      n.emit1(OpId::MatMulInteger, default_params(OpId::MatMulInteger),
              {transposed_if(n, n.input(0), trans_a), transposed_if(n, n.input(3), trans_b), n.input(2), n.input(5)});
  check_bias(n, c, product);
  const ValueId sum = emit::cast(n, emit::add(n, product, c), DType::Float32);
  ValueId factor = emit::plain(n, OpId::Mul, emit::scale(n, n.input(1), alpha), n.input(4));
  if (y_scale == kNone) return n.finish({emit::plain(n, OpId::Mul, sum, factor)});
  factor = emit::plain(n, OpId::Div, factor, y_scale);
  const ValueId steps = emit::plain(n, OpId::Mul, sum, factor), one = number_constant(n, DType::Float32, 1);
  n.finish(n.emit(OpId::QuantizeLinear, default_params(OpId::QuantizeLinear), {steps, one, y_zero}));
}

// The same by arithmetic that holds for either rank of the scale and any number of inputs.
ValueId spread_and_scaled(ImportNode& n, const emit::Quantized& q) {
  const auto per_gate = [&](ValueId x) { return emit::reshape(n, emit::cast(n, x, DType::Float32), {0, 1, -1}); };
  ValueId weights = emit::cast(n, q.x, DType::Float32);
  if (q.zero != kNone) weights = emit::plain(n, OpId::Sub, weights, per_gate(q.zero));
  return emit::plain(n, OpId::Mul, weights, per_gate(q.scale));
}

// Weights [directions, inputs, gates] with scales [directions] or [directions, gates], as an LSTM has them.
ValueId recurrent_weights(ImportNode& n, const char* what, const emit::Quantized& q) {
  const auto& shape = n.type(q.x).shape;
  const auto rank = n.rank(q.scale);
  if (shape && shape->size() != 3)
    return n.fail(invalid_model("{} has {} axes; it must be [directions, inputs, gates]", what, shape->size())), q.x;
  if (rank && *rank != 1 && *rank != 2)
    return n.fail(invalid_model("the scale of {} has {} axes; it must be [directions] or [directions, gates]", what,
                                *rank)),
           q.x;
  const int64_t inputs = shape && (*shape)[1].is_constant() ? (*shape)[1].value() : 0;
  ValueId weights;
  if (rank == 1) {
    weights = emit::dequantize(n, q, 0);
  } else if (!rank || inputs < 1) {
    weights = spread_and_scaled(n, q);
  } else {
    // One block covers all inputs.
    const auto blocks = [&](ValueId x) { return x == kNone ? x : emit::unsqueeze(n, x, {1}); };
    weights = emit::dequantize(n, {q.x, blocks(q.scale), blocks(q.zero)}, 1, inputs);
  }
  return emit::transpose(n, weights, {0, 2, 1});
}

// The op quantizes inputs and states on the fly to save time, over ranges that depend on how work is shared out; here
// they stay as they are. Inputs 0-7 are those of an LSTM, then come scales and zero points of W and R.
void import_dynamic_quantize_lstm(ImportNode& n) {
  if (n.has_attribute("layout")) n.fail(invalid_model("DynamicQuantizeLSTM has no attribute 'layout'"));
  const Params params = n.read_params(OpId::LSTM);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < 8; ++i) inputs.push_back(n.input(i));
  inputs[1] = recurrent_weights(n, "W", {n.input(1), n.input(8), n.input(9)});
  inputs[2] = recurrent_weights(n, "R", {n.input(2), n.input(10), n.input(11)});
  n.finish(n.emit(OpId::LSTM, params, std::move(inputs), n.output_count()));
}

}  // namespace

void map_microsoft_quantized_layers(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "QuantizeLinear", OpId::QuantizeLinear, import_quantize_linear);
  map.custom(kMicrosoftDomain, "DequantizeLinear", OpId::DequantizeLinear, import_dequantize_linear);
  map.custom(kMicrosoftDomain, "QGemm", OpId::MatMulInteger, import_q_gemm);
  map.custom(kMicrosoftDomain, "DynamicQuantizeLSTM", OpId::LSTM, import_dynamic_quantize_lstm);
}

}  // namespace tenon
