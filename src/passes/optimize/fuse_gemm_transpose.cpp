// A Gemm of a transposed matrix.
#include "ir/readers.h"
#include "ops/gemm.h"
#include "ops/transpose.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kFuseGemmTranspose = "fuse_gemm_transpose";

// What a Transpose that only the Gemm reads takes as input; kNone: the operand is none.
ValueId before_transpose(const Graph& graph, NodeId gemm, ValueId operand) {
  const GraphNode* transpose = maker(graph, operand, OpId::Transpose);
  if (!transpose || only_reader(graph, operand) != gemm || graph.value(operand).folds) return kNone;
  const auto& perm = transpose->params.get<TransposeParams>().perm;
  const bool swaps = !perm || *perm == std::vector<int64_t>{1, 0};
  return swaps ? transpose->inputs[0] : ValueId(kNone);
}

Attempt match_gemm(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  GemmParams params = node.params.get<GemmParams>();
  std::vector<ValueId> inputs = node.inputs;
  const ValueId a = before_transpose(graph, root, inputs[0]), b = before_transpose(graph, root, inputs[1]);
  if (a == kNone && b == kNone) return Attempt::none();
  if (a != kNone) {
    inputs[0] = a;
    params.transA = !params.transA;
  }
  if (b != kNone) {
    inputs[1] = b;
    params.transB = !params.transB;
  }
  auto patch = std::make_unique<Patch>(graph, root, kFuseGemmTranspose);
  patch->set_reason("a Gemm reads its matrices transposed as well");
  patch->redefine(node.outputs[0], patch->op(OpId::Gemm, std::move(inputs), Params::of(params)));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule fuse_gemm_transpose() { return {kFuseGemmTranspose, {OpId::Gemm}, match_gemm}; }

}  // namespace tenon
