#include "ops/recurrent.h"

#include "ops/accepted.h"
#include "ops/shape_checks.h"

namespace tenon {

namespace {

// The extents that inputs agree on.
struct Sizes {
  Dim steps, batch, inputs, hidden, directions;
};

// R in panels does not tell the hidden size.
Result<Sizes> find_sizes(InferContext& c, const RecurrentParams& p) {
  const bool packed = p.weights == RecurrentWeights::Panels;
  if (p.layout != 0 && p.layout != 1) return invalid_model("layout is {}; it must be 0 or 1", p.layout);
  if (p.clip && !(*p.clip >= 0)) return invalid_model("clip is {}; it must not be negative", *p.clip);
  if (p.hidden_size && *p.hidden_size < 1)
    return invalid_model("hidden_size is {}; it must be positive", *p.hidden_size);
  TN_RETURN_IF_ERROR(c.expect_rank(0, 3));
  if (packed && !p.hidden_size) return invalid_model("hidden_size must be given where weights are packed");
  if (!packed) TN_RETURN_IF_ERROR(c.expect_rank(2, 3));
  TN_ASSIGN_OR_RETURN(int64_t directions, direction_count(p));
  const Shape x = c.shape(0) ? *c.shape(0) : c.fresh_shape(3);
  const Dim hidden = c.shape(2) && !packed ? (*c.shape(2))[2] : p.hidden_size ? Dim(*p.hidden_size) : c.fresh_symbol();
  if (p.hidden_size && hidden.is_constant() && !hidden.equals(*p.hidden_size))
    return invalid_model("hidden_size is {}, but R has the shape {}", *p.hidden_size, shape_text(*c.shape(2)));
  return Sizes{x[p.layout == 0 ? 0 : 1], x[p.layout == 0 ? 1 : 0], x[2], hidden, Dim(directions)};
}

// W and R: a row of weights for every gate and unit, or panels of sixteen units.
Status expect_weights(InferContext& c, const Sizes& s, int64_t gates, RecurrentWeights weights) {
  if (weights == RecurrentWeights::Panels) {
    const Dim matrices = s.directions * Dim(gates), panels = ceil_div(s.hidden, Dim(kPanelWidth));
    TN_RETURN_IF_ERROR(expect_shape(c, 1, "the packed W", {matrices, panels, s.inputs, Dim(kPanelWidth)}));
    return expect_shape(c, 2, "the packed R", {matrices, panels, s.hidden, Dim(kPanelWidth)});
  }
  TN_RETURN_IF_ERROR(expect_shape(c, 1, "W", {s.directions, s.hidden * Dim(gates), s.inputs}));
  return expect_shape(c, 2, "R", {s.directions, s.hidden * Dim(gates), s.hidden});
}

Status infer_recurrent(InferContext& c, const RecurrentParams& p, RecurrentCell cell) {
  const TypeSet types = p.weights == RecurrentWeights::Panels ? TypeSet{DType::Float32} : kFloats;
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (i == 4) continue;
    TN_RETURN_IF_ERROR(c.expect_tensor(i, types));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
  }
  TN_RETURN_IF_ERROR(c.expect_tensor(4, {DType::Int32}));
  TN_RETURN_IF_ERROR(recurrent_activations(p, default_activations(cell)).status());
  TN_ASSIGN_OR_RETURN(const Sizes s, find_sizes(c, p));
  const int64_t gates = gate_count(cell);
  const Dim rows = s.hidden * Dim(gates);
  const Shape state = p.layout == 0 ? Shape{s.directions, s.batch, s.hidden} : Shape{s.batch, s.directions, s.hidden};
  TN_RETURN_IF_ERROR(expect_weights(c, s, gates, p.weights));
  TN_RETURN_IF_ERROR(expect_shape(c, 3, "B", {s.directions, rows * Dim(2)}));
  TN_RETURN_IF_ERROR(expect_shape(c, 4, "sequence_lens", {s.batch}));
  TN_RETURN_IF_ERROR(expect_shape(c, 5, "initial_h", state));
  TN_RETURN_IF_ERROR(expect_shape(c, 6, "initial_c", state));
  TN_RETURN_IF_ERROR(expect_shape(c, 7, "P", {s.directions, s.hidden * Dim(3)}));
  c.out(0, c.dtype(0),
        p.layout == 0 ? Shape{s.steps, s.directions, s.batch, s.hidden}
                      : Shape{s.batch, s.steps, s.directions, s.hidden});
  c.out(1, c.dtype(0), state);
  c.out(2, c.dtype(0), state);
  return {};
}

template <class P>
size_t recurrent_time_axis(const Params& params) {
  return params.get<P>().common.layout == 0 ? 0 : 1;
}

// The lengths of the sequences.
template <class P>
Accepted accepts_recurrent(const AcceptContext& c, size_t input) {
  return input == 4 ? Accepted::count_up_to(c.extent(0, c.params<P>().common.layout)) : Accepted{};
}

template <class P>
OpDef recurrent_definition(Arity inputs, Arity outputs, Status (*infer)(InferContext&)) {
  return define<P>({.inputs = inputs,
                    .outputs = outputs,
                    .infer = infer,
                    .can_fail = true,
                    .accepts = accepts_recurrent<P>,
                    .time_axis = recurrent_time_axis<P>});
}

template <class P, RecurrentCell Cell>
Status infer_cell(InferContext& c) {
  return infer_recurrent(c, c.params<P>().common, Cell);
}

}  // namespace

template <>
OpDef op_definition<OpId::RNN>() {
  return recurrent_definition<RNNParams>({3, 6}, {0, 2}, infer_cell<RNNParams, RecurrentCell::RNN>);
}
template <>
OpDef op_definition<OpId::GRU>() {
  return recurrent_definition<GRUParams>({3, 6}, {0, 2}, infer_cell<GRUParams, RecurrentCell::GRU>);
}
template <>
OpDef op_definition<OpId::LSTM>() {
  return recurrent_definition<LSTMParams>({3, 8}, {0, 3}, infer_cell<LSTMParams, RecurrentCell::LSTM>);
}
RecurrentLayer recurrent_layer(const Params& params) {
  if (params.holds(typeid(RNNParams))) return {RecurrentCell::RNN, params.get<RNNParams>().common};
  if (params.holds(typeid(GRUParams))) {
    const auto& p = params.get<GRUParams>();
    return {RecurrentCell::GRU, p.common, p.linear_before_reset};
  }
  const auto& p = params.get<LSTMParams>();
  return {RecurrentCell::LSTM, p.common, false, p.input_forget};
}

}  // namespace tenon
