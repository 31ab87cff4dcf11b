#include "ops/softmax.h"

#include "onnx/node_draft.h"
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

// The way back from the last of its nodes, which covers the others.
template <OpId op>
bool write_old_softmax(NodeDraft& d) {
  const GraphNode* softmax = d.version < 13 ? d.made_by(d.inputs[0], op) : nullptr;
  const GraphNode* matrix = softmax ? d.made_by(softmax->inputs[0], OpId::Flatten) : nullptr;
  if (!matrix) return false;
  d.attributes.clear();
  d.set_int("axis", matrix->params.get<FlattenParams>().axis);
  d.inputs = {matrix->inputs[0]};
  return true;
}

template <OpId op>
void map_softmax(OnnxMap& map, std::string_view name) {
  map.custom(kOnnxDomain, name, op, import_softmax<op>);
  map.way_back(OpId::Reshape, kOnnxDomain, name, write_old_softmax<op>);
}

}  // namespace

template <>
void onnx_mapping<OpId::Softmax>(OnnxMap& map) {
  map_softmax<OpId::Softmax>(map, "Softmax");
}

template <>
void onnx_mapping<OpId::LogSoftmax>(OnnxMap& map) {
  map_softmax<OpId::LogSoftmax>(map, "LogSoftmax");
}

template <>
void onnx_mapping<OpId::Hardmax>(OnnxMap& map) {
  map_softmax<OpId::Hardmax>(map, "Hardmax");
}

}  // namespace tenon
