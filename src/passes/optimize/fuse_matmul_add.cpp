// The product of two matrices, and a sum with it.
#include "ops/gemm.h"
#include "passes/normalize/same_value.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/pattern.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseMatmulAdd = "fuse_matmul_add";

struct SumPattern {
  Pattern a = Pattern::any(), b = Pattern::any(), c = Pattern::any();
  Pattern product = Pattern::op(OpId::MatMul, {a, b});
  Pattern whole = Pattern::op(OpId::Add, {product, c});
};

Attempt match_matmul_add(Graph& graph, NodeId root) {
  static const SumPattern pattern;
  const auto m = match(graph, pattern.whole, root, kFuseMatmulAdd);
  if (!m) return Attempt::none();
  if (auto why = objection(graph, *m)) return std::move(*why);
  const ValueId a = (*m)[pattern.a], b = (*m)[pattern.b], result = graph.node(root).outputs[0];
  if (rank_of(graph, a) != 2 || rank_of(graph, b) != 2) return Attempt::no("its operands are not known to be matrices");
  const DType dtype = graph.value(a).type.dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return Attempt::no("its elements are not float32 or float64");
  // Broadcasting goes one way in a Gemm.
  if (!has_same_shape(graph, (*m)[pattern.product], result))
    return Attempt::no("the sum is not known to have the shape of the product");
  auto patch = std::make_unique<Patch>(graph, root, kFuseMatmulAdd);
  patch->set_reason("a Gemm adds as well");
  patch->redefine(result, patch->op(OpId::Gemm, {a, b, (*m)[pattern.c]}));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_matmul_add() { return {kFuseMatmulAdd, {OpId::Add}, match_matmul_add}; }

}  // namespace tenon
