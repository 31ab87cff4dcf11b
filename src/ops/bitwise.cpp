#include "ops/bitwise.h"

#include "ops/accepted.h"
#include "ops/broadcasting.h"

namespace tenon {

namespace {

Status infer_integers(InferContext& c) { return infer_elementwise(c, kInts, nullptr); }

Status infer_shift(InferContext& c) {
  const std::string& direction = c.params<BitShiftParams>().direction;
  if (direction != "LEFT" && direction != "RIGHT")
    return invalid_model("attribute 'direction' is '{}'; it must be 'LEFT' or 'RIGHT'", direction);
  return infer_integers(c);
}

OpDef bitwise() {
  return define<NoParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_integers, .rounding = kNotRounded});
}

// No shift by more bits than there are.
Accepted accepts_shift(const AcceptContext& c, size_t input) {
  return input == 1 && c.type(1) ? Accepted::index_into(dtype_bits(c.type(1)->dtype)) : Accepted{};
}

}  // namespace

template <>
OpDef op_definition<OpId::BitwiseAnd>() {
  return bitwise();
}

template <>
OpDef op_definition<OpId::BitwiseOr>() {
  return bitwise();
}

template <>
OpDef op_definition<OpId::BitwiseXor>() {
  return bitwise();
}

template <>
OpDef op_definition<OpId::BitShift>() {
  return define<BitShiftParams>(
      {.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_shift, .accepts = accepts_shift, .rounding = kNotRounded});
}

}  // namespace tenon
