#include "compiler/targets/cpu/claim.h"

namespace tenon {

namespace {

Attempt match_matmul(Graph& graph, NodeId root, bool exact) {
  const GraphNode& node = graph.node(root);
  // What weights alone decide is computed with them, and not in every run.
  if (graph.value(node.outputs[0]).folds) return Attempt::none();
  const auto matrix = weight_matrix(graph, node.inputs[1], false);
  if (!matrix) return Attempt::no(why_no_weight(graph, node.inputs[1]));
  auto [patch, claim] = begin_claim(graph, root, "claim_matmul");
  claim.keeps_weight = exact;
  const Type& x = graph.value(claim.x).type;
  if (x.shape) claim.rank = x.shape->size();
  if (!is_float(graph, claim.x) || claim.rank == 0u) return Attempt::no("its input is not a float32 tensor with axes");
  claim.outputs = matrix->outputs;
  extend_claim(*patch, claim);
  emit_product(*patch, claim, *matrix);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule claim_matmul(bool exact) {
  return {
      "claim_matmul", {OpId::MatMul}, [exact](Graph& graph, NodeId root) { return match_matmul(graph, root, exact); }};
}

}  // namespace tenon
