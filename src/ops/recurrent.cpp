#include "ops/recurrent.h"

#include "ops/shape_checks.h"

namespace tenon {

namespace {

// The extents that inputs agree on.
struct Sizes {
  Dim steps, batch, inputs, hidden, directions;
};

Result<Sizes> find_sizes(InferContext& c, const RecurrentParams& p) {
  if (p.layout != 0 && p.layout != 1) return invalid_model("layout is {}; it must be 0 or 1", p.layout);
  if (p.clip && !(*p.clip >= 0)) return invalid_model("clip is {}; it must not be negative", *p.clip);
  if (p.hidden_size && *p.hidden_size < 1)
    return invalid_model("hidden_size is {}; it must be positive", *p.hidden_size);
  TN_RETURN_IF_ERROR(c.expect_rank(0, 3));
  TN_RETURN_IF_ERROR(c.expect_rank(2, 3));
  TN_ASSIGN_OR_RETURN(int64_t directions, direction_count(p));
  const Shape x = c.shape(0) ? *c.shape(0) : c.fresh_shape(3);
  const Dim hidden = c.shape(2) ? (*c.shape(2))[2] : p.hidden_size ? Dim(*p.hidden_size) : c.fresh_symbol();
  if (p.hidden_size && hidden.is_constant() && !hidden.equals(*p.hidden_size))
    return invalid_model("hidden_size is {}, but R has the shape {}", *p.hidden_size, shape_text(*c.shape(2)));
  return Sizes{x[p.layout == 0 ? 0 : 1], x[p.layout == 0 ? 1 : 0], x[2], hidden, Dim(directions)};
}

Status infer_recurrent(InferContext& c, const RecurrentParams& p, int64_t gates, std::vector<std::string> defaults) {
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (i == 4) continue;
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
  }
  TN_RETURN_IF_ERROR(c.expect_tensor(4, {DType::Int32}));
  TN_RETURN_IF_ERROR(recurrent_activations(p, std::move(defaults)).status());
  TN_ASSIGN_OR_RETURN(const Sizes s, find_sizes(c, p));
  const Dim rows = s.hidden * Dim(gates);
  const Shape state = p.layout == 0 ? Shape{s.directions, s.batch, s.hidden} : Shape{s.batch, s.directions, s.hidden};
  TN_RETURN_IF_ERROR(expect_shape(c, 1, "W", {s.directions, rows, s.inputs}));
  TN_RETURN_IF_ERROR(expect_shape(c, 2, "R", {s.directions, rows, s.hidden}));
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

}  // namespace

template <>
OpDef op_definition<OpId::RNN>() {
  return define<RNNParams>(
      {.inputs = {3, 6},
       .outputs = {0, 2},
       .infer = [](InferContext& c) { return infer_recurrent(c, c.params<RNNParams>().common, 1, {"Tanh"}); },
       .can_fail = true});
}
template <>
OpDef op_definition<OpId::GRU>() {
  return define<GRUParams>(
      {.inputs = {3, 6},
       .outputs = {0, 2},
       .infer =
           [](InferContext& c) { return infer_recurrent(c, c.params<GRUParams>().common, 3, {"Sigmoid", "Tanh"}); },
       .can_fail = true});
}
template <>
OpDef op_definition<OpId::LSTM>() {
  return define<LSTMParams>({.inputs = {3, 8},
                             .outputs = {0, 3},
                             .infer =
                                 [](InferContext& c) {
                                   return infer_recurrent(c, c.params<LSTMParams>().common, 4,
                                                          {"Sigmoid", "Tanh", "Tanh"});
                                 },
                             .can_fail = true});
}

}  // namespace tenon
