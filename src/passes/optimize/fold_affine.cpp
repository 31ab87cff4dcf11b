#include "passes/optimize/fold_affine.h"

#include "ir/readers.h"
#include "ops/gemm.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/constants.h"

namespace tenon {

namespace {

bool is_float(const Graph& graph, ValueId v) {
  const DType dtype = graph.value(v).type.dtype;
  return dtype == DType::Float32 || dtype == DType::Float64;
}

// A vector along one axis of as many as the weights have.
ValueId along(Patch& patch, ValueId vector, int64_t rank, int64_t axis) {
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(axis)] = -1;
  return rank == 1 ? vector : patch.op(OpId::Reshape, {vector, patch.integers(dims)});
}

// The axis of the weights that the channels of the result come from.
int64_t weight_axis(const GraphNode& node, int64_t rank) {
  if (node.op == OpId::Conv) return 0;
  return node.op == OpId::Gemm && node.params.get<GemmParams>().transB ? 0 : rank - 1;
}

}  // namespace

std::optional<WeightedProduct> WeightedProduct::of(const Graph& graph, ValueId v) {
  const NodeId id = graph.value(v).producer;
  const auto rank = rank_of(graph, v);
  if (id == kNone || !rank || *rank < 2) return std::nullopt;
  const GraphNode& node = graph.node(id);
  if (node.op != OpId::Conv && node.op != OpId::Gemm && node.op != OpId::MatMul) return std::nullopt;
  WeightedProduct product{id, node.inputs[0], node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : ValueId(kNone)};
  const Shape* weight = weight_shape(graph, product.weight);
  if (!weight || !is_float(graph, product.weight) || graph.value(v).folds) return std::nullopt;
  if (product.bias != kNone && !graph.value(product.bias).folds) return std::nullopt;
  if (node.op == OpId::MatMul && weight->size() != 2) return std::nullopt;
  if (node.op == OpId::Gemm && product.bias != kNone && node.params.get<GemmParams>().beta != 1) return std::nullopt;
  const int64_t axis = weight_axis(node, static_cast<int64_t>(weight->size()));
  product.channels = (*weight)[static_cast<size_t>(axis)].value();
  product.rank = *rank;
  product.axis = node.op == OpId::MatMul ? *rank - 1 : 1;
  return product;
}

ValueId channel_vector(Patch& patch, const WeightedProduct& product, ValueId v) {
  const Shape* shape = weight_shape(patch.graph(), v);
  if (!shape || static_cast<int64_t>(shape->size()) > product.rank) return kNone;
  if (patch.type(v).dtype != patch.type(product.weight).dtype) return kNone;
  const int64_t first = product.rank - static_cast<int64_t>(shape->size());
  int64_t count = 1;
  for (size_t i = 0; i < shape->size(); ++i) {
    const int64_t extent = (*shape)[i].value();
    const bool is_channel = first + static_cast<int64_t>(i) == product.axis;
    if (extent != 1 && (!is_channel || extent != product.channels)) return kNone;
    count *= extent;
  }
  const ValueId vector = shape->size() == 1 ? v : patch.op(OpId::Reshape, {v, patch.integers({-1})});
  return count == product.channels ? vector : patch.op(OpId::Expand, {vector, patch.integers({product.channels})});
}

ValueId fold_affine(Patch& patch, const WeightedProduct& product, const ChannelAffine& affine) {
  const GraphNode& node = patch.graph().node(product.node);
  ValueId weight = product.weight, bias = product.bias;
  if (affine.scale != kNone) {
    const auto rank = static_cast<int64_t>(patch.type(weight).shape->size());
    weight = patch.op(OpId::Mul, {weight, along(patch, affine.scale, rank, weight_axis(node, rank))});
    if (bias != kNone) bias = patch.op(OpId::Mul, {bias, affine.scale});
  }
  if (affine.shift != kNone) bias = bias == kNone ? affine.shift : patch.op(OpId::Add, {bias, affine.shift});
  // Only a Gemm adds to a product of matrices.
  if (node.op == OpId::MatMul && bias != kNone) return patch.op(OpId::Gemm, {product.x, weight, bias});
  if (node.op == OpId::Gemm) {
    GemmParams params = node.params.get<GemmParams>();
    params.beta = 1;  // it means nothing without a bias, which there may be now
    return patch.op(node.op, {product.x, weight, bias}, Params::of(params));
  }
  return patch.op(node.op, {product.x, weight, bias}, node.params);
}

}  // namespace tenon
