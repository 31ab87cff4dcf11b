#include "ops/reverse_sequence.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_reverse_sequence(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_rank(1, 1));
  const auto& p = c.params<ReverseSequenceParams>();
  if (p.batch_axis + p.time_axis != 1 || p.batch_axis < 0 || p.time_axis < 0)
    return invalid_model("batch_axis and time_axis must be 0 and 1 or 1 and 0, but they are {} and {}", p.batch_axis,
                         p.time_axis);
  const Shape* shape = c.shape(0);
  if (shape && shape->size() < 2)
    return invalid_model("the input needs rank 2 or more, but it is {}", c.in(0).to_string());
  if (shape && c.shape(1)) {
    const Dim &batch = (*shape)[static_cast<size_t>(p.batch_axis)], &lengths = (*c.shape(1))[0];
    if (batch.is_constant() && lengths.is_constant() && !(batch == lengths))
      return invalid_model("there are {} lengths for a batch of {}", lengths.value(), batch.value());
  }
  c.out(0, c.in(0));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::ReverseSequence>() {
  return define<ReverseSequenceParams>(
      {.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_reverse_sequence, .can_fail = true});
}

}  // namespace tenon
