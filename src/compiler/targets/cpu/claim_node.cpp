#include "compiler/targets/cpu/claim.h"
#include "ops/gemm.h"
#include "ops/transpose.h"

namespace tenon {

namespace {

std::optional<size_t> rank_of(const GraphEdit& edit, ValueId v) {
  const Type& t = edit.type(v);
  return t.shape ? std::optional(t.shape->size()) : std::nullopt;
}

bool is_float(const GraphEdit& edit, ValueId v) { return v != kNone && edit.type(v).dtype == DType::Float32; }

// The weight whose transpose v is, or kNone.
ValueId transposed_from(const GraphEdit& edit, ValueId v) {
  const NodeId maker = edit.producer(v);
  if (maker == kNone || edit.node(maker).op != OpId::Transpose) return kNone;
  const auto& perm = edit.node(maker).params.get<TransposeParams>().perm;
  const ValueId original = edit.node(maker).inputs[0];
  const bool swaps = !perm || *perm == std::vector<int64_t>{1, 0};
  return swaps && edit.weight_shape(original) ? original : kNone;
}

// A weight [K, N], or the transpose of one [N, K] that can be packed without transposing it first.
bool set_matrix(GraphEdit& edit, Claim& claim, ValueId weight, bool transposed) {
  const Shape* shape = edit.weight_shape(weight);
  if (!shape || shape->size() != 2) return false;
  if (const ValueId original = transposed_from(edit, weight); original != kNone) {
    weight = original;
    transposed = !transposed;
    shape = edit.weight_shape(weight);
  }
  claim.weight = weight;
  claim.source = transposed ? "nk" : "kn";
  claim.outputs = (*shape)[transposed ? 0 : 1].value();
  claim.depth = (*shape)[transposed ? 1 : 0].value();
  return claim.outputs > 0;
}

std::optional<Claim> claim_matmul(GraphEdit& edit, const GraphNode& node) {
  Claim claim;
  claim.x = node.inputs[0];
  const auto rank = rank_of(edit, claim.x);
  if (!is_float(edit, claim.x) || rank == 0u || !set_matrix(edit, claim, node.inputs[1], false)) return std::nullopt;
  claim.rank = rank;
  return claim;
}

std::optional<Claim> claim_gemm(GraphEdit& edit, const GraphNode& node) {
  const auto& p = node.params.get<GemmParams>();
  Claim claim;
  claim.x = node.inputs[0];
  // Packed products take inputs of any rank; a Gemm does not, so its input must be known to be a matrix.
  claim.rank = rank_of(edit, claim.x);
  if (p.transA || claim.rank != 2u || !is_float(edit, claim.x) || !set_matrix(edit, claim, node.inputs[1], p.transB))
    return std::nullopt;
  const auto all = [&](float value, const char* attribute) {
    return edit.constant(
        Tensor::of<float>({claim.outputs}, std::vector<float>(static_cast<size_t>(claim.outputs), value)), attribute);
  };
  if (node.inputs.size() > 2 && node.inputs[2] != kNone) {
    claim.bias = channel_values(edit, claim, node.inputs[2]);
    if (claim.bias == kNone) return std::nullopt;
    if (p.beta != 1) claim.bias = edit.emit(OpId::Mul, {}, {claim.bias, all(p.beta, "beta")});
  }
  if (p.alpha != 1) claim.scale = all(p.alpha, "alpha");
  return claim;
}

// The bias of a convolution; false when there is one that is not constant.
bool set_bias(GraphEdit& edit, Claim& claim, const GraphNode& node) {
  if (node.inputs.size() < 3 || node.inputs[2] == kNone) return true;
  if (!edit.weight_shape(node.inputs[2])) return false;
  claim.bias = node.inputs[2];
  return true;
}

std::optional<Claim> claim_conv(GraphEdit& edit, const GraphNode& node) {
  const Shape* shape = edit.weight_shape(node.inputs[1]);
  if (!shape || shape->size() < 3 || shape->size() > 5 || !is_float(edit, node.inputs[0])) return std::nullopt;
  Claim claim;
  claim.kind = Claim::Kind::Convolution;
  claim.x = node.inputs[0];
  claim.weight = node.inputs[1];
  claim.conv = node.params.get<ConvParams>();
  claim.outputs = (*shape)[0].value();
  claim.rank = shape->size();
  claim.channel_from_end = static_cast<int>(shape->size()) - 1;
  claim.conv.window.kernel_shape.clear();
  for (size_t i = 2; i < shape->size(); ++i) claim.conv.window.kernel_shape.push_back((*shape)[i].value());
  if (claim.outputs == 0 || element_count(*shape).value() == 0 || !set_bias(edit, claim, node)) return std::nullopt;
  return claim;
}

// There is no kernel of its own; what is gained is what can be folded into the weight.
std::optional<Claim> claim_transposed(GraphEdit& edit, const GraphNode& node) {
  const Shape* shape = edit.weight_shape(node.inputs[1]);
  if (!shape || shape->size() < 3 || !is_float(edit, node.inputs[0])) return std::nullopt;
  Claim claim;
  claim.kind = Claim::Kind::TransposedConvolution;
  claim.x = node.inputs[0];
  claim.weight = node.inputs[1];
  claim.transposed = node.params.get<ConvTransposeParams>();
  claim.outputs = (*shape)[1].value() * claim.transposed.group;
  claim.rank = shape->size();
  claim.channel_from_end = static_cast<int>(shape->size()) - 1;
  if (claim.outputs == 0 || !set_bias(edit, claim, node)) return std::nullopt;
  return claim;
}

}  // namespace

std::optional<Claim> claim_node(GraphEdit& edit, NodeId id) {
  const GraphNode& node = edit.node(id);
  // What weights alone decide is computed with them, and not in every run.
  if (edit.weight_shape(node.outputs[0])) return std::nullopt;
  edit.go_to(id);
  std::optional<Claim> claim;
  if (node.op == OpId::MatMul) claim = claim_matmul(edit, node);
  if (node.op == OpId::Gemm) claim = claim_gemm(edit, node);
  if (node.op == OpId::Conv) claim = claim_conv(edit, node);
  if (node.op == OpId::ConvTranspose) claim = claim_transposed(edit, node);
  if (!claim) return claim;
  claim->nodes = {id};
  claim->result = node.outputs[0];
  return claim;
}

}  // namespace tenon
