#include "ops/softmax.h"

#include "onnx/onnx_map.h"
#include "ops/infer.h"
#include "ops/reshape.h"

namespace tenon {

namespace {

// Before version 13 all axes from `axis` on count as one.
template <OpId op>
void import_softmax(ImportNode& n) {
  SoftmaxParams params{n.int_attribute("axis", n.version() < 13 ? 1 : -1)};
  const auto rank = n.rank(n.input(0));
  if (n.version() >= 13 || (rank && (params.axis == *rank - 1 || params.axis == -1))) {
    n.finish(n.emit(op, Params::of(params), n.inputs()));
    return;
  }
  if (!rank && params.axis < 0) {
    n.fail(unsupported("axis {} of a version before 13 needs an input of known rank", params.axis));
    return;
  }
  int64_t axis = params.axis;
  if (rank) {
    auto normal = normalize_axis(axis, *rank);
    if (!normal.ok()) return n.fail(normal.status());
    axis = *normal;
  }
  if (axis > 64) return n.fail(invalid_model("axis {} is beyond every tensor", axis));
  // Zeros copy the axes before, -1 takes the others together.
  std::vector<int64_t> target(static_cast<size_t>(axis), 0);
  target.push_back(-1);
  const ValueId matrix =
      n.emit1(OpId::Reshape, default_params(OpId::Reshape), {n.input(0), n.int_constant(std::move(target))});
  const ValueId result = n.emit1(op, Params::of(SoftmaxParams{-1}), {matrix});
  const ValueId shape = n.emit1(OpId::Shape, default_params(OpId::Shape), {n.input(0)});
  ReshapeParams back;
  back.allowzero = true;
  n.finish(n.emit(OpId::Reshape, Params::of(back), {result, shape}));
}

}  // namespace

template <>
void onnx_mapping<OpId::Softmax>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Softmax", OpId::Softmax, import_softmax<OpId::Softmax>);
}

template <>
void onnx_mapping<OpId::LogSoftmax>(OnnxMap& map) {
  map.custom(kOnnxDomain, "LogSoftmax", OpId::LogSoftmax, import_softmax<OpId::LogSoftmax>);
}

template <>
void onnx_mapping<OpId::Hardmax>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Hardmax", OpId::Hardmax, import_softmax<OpId::Hardmax>);
}

}  // namespace tenon
