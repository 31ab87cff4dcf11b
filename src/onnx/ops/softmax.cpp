#include "ops/softmax.h"

#include "onnx/onnx_map.h"
#include "ops/flatten.h"
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
  // Flatten checks the axis, which must name one that is there.
  if (rank && params.axis == *rank) return n.fail(normalize_axis(params.axis, *rank).status());
  const ValueId matrix = n.emit1(OpId::Flatten, Params::of(FlattenParams{params.axis}), n.inputs());
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
