#include "compiler/targets/cpu/claim.h"
#include "ops/gemm.h"

namespace tenon {

namespace {

// alpha and beta go into the weight and the bias.
bool take_factors(Patch& patch, Claim& claim, const GraphNode& node, const GemmParams& p) {
  const auto all = [&](float value, const char* attribute) {
    const std::vector<float> values(static_cast<size_t>(claim.outputs), value);
    return patch.literal(Tensor::of<float>({claim.outputs}, values), attribute);
  };
  if (node.inputs.size() > 2 && node.inputs[2] != kNone) {
    claim.bias = channel_values(patch, claim, node.inputs[2]);
    if (claim.bias == kNone) return false;
    if (p.beta != 1) claim.bias = patch.op(OpId::Mul, {claim.bias, all(p.beta, "beta")});
  }
  if (p.alpha != 1) claim.scale = all(p.alpha, "alpha");
  return true;
}

Attempt match_gemm(Graph& graph, NodeId root, bool exact) {
  const GraphNode& node = graph.node(root);
  const auto& p = node.params.get<GemmParams>();
  if (graph.value(node.outputs[0]).folds) return Attempt::none();
  const auto matrix = weight_matrix(graph, node.inputs[1], p.transB);
  if (!matrix) return Attempt::no(why_no_weight(graph, node.inputs[1]));
  if (p.transA) return Attempt::no("it transposes its input");
  auto [patch, claim] = begin_claim(graph, root, "claim_gemm");
  claim.keeps_weight = exact;
  // Packed products take inputs of any rank; a Gemm does not, so its input must be known to be a matrix.
  const Type& x = graph.value(claim.x).type;
  if (!is_float(graph, claim.x) || !x.shape || x.shape->size() != 2)
    return Attempt::no("its input is not known to be a float32 matrix");
  claim.rank = 2;
  if (exact && (p.alpha != 1 || p.beta != 1)) return Attempt::no("its factors would go into the weights");
  claim.outputs = matrix->outputs;
  if (!take_factors(*patch, claim, node, p)) return Attempt::no("its bias is not a constant for each output column");
  extend_claim(*patch, claim);
  emit_product(*patch, claim, *matrix);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule claim_gemm(bool exact) {
  return {"claim_gemm", {OpId::Gemm}, [exact](Graph& graph, NodeId root) { return match_gemm(graph, root, exact); }};
}

}  // namespace tenon
