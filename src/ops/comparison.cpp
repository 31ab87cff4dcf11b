#include "ops/accepted.h"
#include "ops/broadcasting.h"

namespace tenon {

namespace {

Status infer_comparison(InferContext& c, TypeSet allowed, FoldElements fold) {
  TN_RETURN_IF_ERROR(infer_elementwise(c, allowed, nullptr));
  c.out(0, DType::Bool, c.outputs()[0].shape);
  if (fold) propagate_elements(c, fold);
  return {};
}

OpDef binary(Status (*infer)(InferContext&)) {
  return define<NoParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer, .rounding = kNotRounded});
}

// A plain symbol is an extent, so it is never negative.
Dim equal(std::span<const Dim> x) {
  if (x[0].is_constant() && x[1].is_constant()) return Dim(x[0].value() == x[1].value());
  if (x[0] == x[1]) return Dim(1);
  for (int i : {0, 1})
    if (x[i].is_constant() && x[i].value() < 0 && x[1 - i].as_symbol()) return Dim(0);
  return Dim::invalid();
}

Dim select(std::span<const Dim> x) { return x[0].is_constant() ? x[x[0].value() ? 1 : 2] : Dim::invalid(); }

Status infer_where(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kBool));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_same_dtype(1, 2));
  TN_ASSIGN_OR_RETURN(auto shape, broadcast_inputs(c));
  c.out(0, c.dtype(1) == DType::Undefined ? c.dtype(2) : c.dtype(1), std::move(shape));
  propagate_elements(c, select);
  return {};
}

// The condition may be anything.
Accepted accepts_either(const AcceptContext& c, size_t input) { return input > 0 ? c.output() : Accepted{}; }

}  // namespace

#define COMPARISON(name, types, fold)                                                \
  template <>                                                                        \
  OpDef op_definition<OpId::name>() {                                                \
    return binary([](InferContext& c) { return infer_comparison(c, types, fold); }); \
  }
COMPARISON(And, kBool, nullptr)
COMPARISON(Or, kBool, nullptr)
COMPARISON(Xor, kBool, nullptr)
COMPARISON(Equal, kNumbers | kBool | kStrings, equal)
COMPARISON(Greater, kNumbers, nullptr)
COMPARISON(GreaterOrEqual, kNumbers, nullptr)
COMPARISON(Less, kNumbers, nullptr)
COMPARISON(LessOrEqual, kNumbers, nullptr)
#undef COMPARISON

template <>
OpDef op_definition<OpId::Where>() {
  return define<NoParams>(
      {.inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_where, .accepts = accepts_either, .rounding = kNotRounded});
}

}  // namespace tenon
