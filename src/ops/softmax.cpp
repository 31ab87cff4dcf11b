#include "ops/softmax.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_along_axis(InferContext& c) {
  TN_RETURN_IF_ERROR(infer_same_as_input(c, kFloats));
  const auto rank = c.rank(0);
  const int64_t axis = c.params<SoftmaxParams>().axis;
  // A scalar counts as a vector of one element.
  return rank ? normalize_axis(axis, std::max<int64_t>(*rank, 1)).status() : Status();
}

OpDef along_axis(Rounding rounding) {
  return define<SoftmaxParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_along_axis, .rounding = rounding});
}

}  // namespace

template <>
OpDef op_definition<OpId::Softmax>() {
  return along_axis(kRoundedSum);
}

template <>
OpDef op_definition<OpId::LogSoftmax>() {
  return along_axis(kRoundedSum);
}

template <>
OpDef op_definition<OpId::Hardmax>() {
  return along_axis(kNotRounded);
}

}  // namespace tenon
