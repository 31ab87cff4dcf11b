#include "ops/optimizer.h"

#include "ops/infer.h"

namespace tenon {

namespace {

constexpr TypeSet kTrained{DType::Float32, DType::Float64};

// Inputs are R, T, then n tensors, their n gradients and `states` times n states; outputs are the new tensors and
// states.
Status infer_optimizer(InferContext& c, size_t states) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kTrained));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  for (size_t i : {0, 1})
    if (const Shape* s = c.shape(i); s && is_static(*s) && !element_count(*s).equals(1))
      return invalid_model("input {} must be one number, but its shape is {}", i, shape_text(*s));
  const size_t groups = 2 + states, tensors = c.input_count() - 2;
  if (tensors == 0 || tensors % groups != 0)
    return invalid_model("the node has {} tensors; it needs {} for each tensor to optimize", tensors, groups);
  const size_t n = tensors / groups;
  if (c.output_count() != n * (1 + states))
    return invalid_model("the node has {} outputs for {} optimized tensors; it needs {}", c.output_count(), n,
                         n * (1 + states));
  for (size_t i = 0; i < tensors; ++i) {
    if (!c.has(2 + i)) return invalid_model("input {} is missing", 2 + i);
    TN_RETURN_IF_ERROR(c.expect_tensor(2 + i, kTrained));
    const auto merged = merge(c.in(2 + i % n), c.in(2 + i));
    if (!merged)
      return invalid_model("input {} is {}, but the tensor it belongs to is {}", 2 + i, c.in(2 + i).to_string(),
                           c.in(2 + i % n).to_string());
  }
  for (size_t i = 0; i < n * (1 + states); ++i) c.out(i, c.in(2 + i % n));
  return {};
}

Status infer_momentum(InferContext& c) {
  const std::string& mode = c.params<MomentumParams>().mode;
  if (mode != "standard" && mode != "nesterov")
    return invalid_model("attribute 'mode' is '{}'; it must be 'standard' or 'nesterov'", mode);
  return infer_optimizer(c, 1);
}

}  // namespace

template <>
OpDef op_definition<OpId::Adagrad>() {
  return define<AdagradParams>({.inputs = {5, kVariadic}, .outputs = {2, kVariadic}, .infer = [](InferContext& c) {
                                  return infer_optimizer(c, 1);
                                }});
}

template <>
OpDef op_definition<OpId::Adam>() {
  return define<AdamParams>({.inputs = {6, kVariadic}, .outputs = {3, kVariadic}, .infer = [](InferContext& c) {
                               return infer_optimizer(c, 2);
                             }});
}

template <>
OpDef op_definition<OpId::Momentum>() {
  return define<MomentumParams>({.inputs = {5, kVariadic}, .outputs = {2, kVariadic}, .infer = infer_momentum});
}

}  // namespace tenon
