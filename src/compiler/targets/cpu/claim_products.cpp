#include "compiler/targets/cpu/claim.h"
#include "ir/readers.h"
#include "ops/gemm.h"
#include "ops/transpose.h"

namespace tenon {

namespace {

std::optional<size_t> rank_of(const Patch& patch, ValueId v) {
  const Type& t = patch.type(v);
  return t.shape ? std::optional(t.shape->size()) : std::nullopt;
}

bool is_float(const Patch& patch, ValueId v) { return v != kNone && patch.type(v).dtype == DType::Float32; }

// The weight whose transpose v is, or kNone.
ValueId transposed_from(const Patch& patch, ValueId v) {
  const GraphNode* transpose = maker(patch.graph(), v, OpId::Transpose);
  if (!transpose) return kNone;
  const auto& perm = transpose->params.get<TransposeParams>().perm;
  const ValueId original = transpose->inputs[0];
  const bool swaps = !perm || *perm == std::vector<int64_t>{1, 0};
  return swaps && float_weight_shape(patch.graph(), original) ? original : ValueId(kNone);
}

// A weight [K, N], or the transpose of one [N, K] that can be packed without transposing it first.
bool set_matrix(Patch& patch, Claim& claim, ValueId weight, bool transposed) {
  const Shape* shape = float_weight_shape(patch.graph(), weight);
  if (!shape || shape->size() != 2) return false;
  if (const ValueId original = transposed_from(patch, weight); original != kNone) {
    weight = original;
    transposed = !transposed;
    shape = float_weight_shape(patch.graph(), weight);
  }
  claim.weight = weight;
  claim.source = transposed ? "nk" : "kn";
  claim.outputs = (*shape)[transposed ? 0 : 1].value();
  claim.depth = (*shape)[transposed ? 1 : 0].value();
  return claim.outputs > 0;
}

std::optional<Claim> claim_matmul(Patch& patch, const GraphNode& node) {
  Claim claim;
  claim.x = node.inputs[0];
  const auto rank = rank_of(patch, claim.x);
  if (!is_float(patch, claim.x) || rank == 0u || !set_matrix(patch, claim, node.inputs[1], false)) return std::nullopt;
  claim.rank = rank;
  return claim;
}

std::optional<Claim> claim_gemm(Patch& patch, const GraphNode& node) {
  const auto& p = node.params.get<GemmParams>();
  Claim claim;
  claim.x = node.inputs[0];
  // Packed products take inputs of any rank; a Gemm does not, so its input must be known to be a matrix.
  claim.rank = rank_of(patch, claim.x);
  if (p.transA || claim.rank != 2u || !is_float(patch, claim.x) || !set_matrix(patch, claim, node.inputs[1], p.transB))
    return std::nullopt;
  const auto all = [&](float value, const char* attribute) {
    return patch.literal(
        Tensor::of<float>({claim.outputs}, std::vector<float>(static_cast<size_t>(claim.outputs), value)), attribute);
  };
  if (node.inputs.size() > 2 && node.inputs[2] != kNone) {
    claim.bias = channel_values(patch, claim, node.inputs[2]);
    if (claim.bias == kNone) return std::nullopt;
    if (p.beta != 1) claim.bias = patch.op(OpId::Mul, {claim.bias, all(p.beta, "beta")});
  }
  if (p.alpha != 1) claim.scale = all(p.alpha, "alpha");
  return claim;
}

// The bias of a convolution; false when there is one that is not constant.
bool set_bias(Patch& patch, Claim& claim, const GraphNode& node) {
  if (node.inputs.size() < 3 || node.inputs[2] == kNone) return true;
  if (!float_weight_shape(patch.graph(), node.inputs[2])) return false;
  claim.bias = node.inputs[2];
  return true;
}

std::optional<Claim> claim_conv(Patch& patch, const GraphNode& node) {
  const Shape* shape = float_weight_shape(patch.graph(), node.inputs[1]);
  if (!shape || shape->size() < 3 || shape->size() > 5 || !is_float(patch, node.inputs[0])) return std::nullopt;
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
  if (claim.outputs == 0 || element_count(*shape).value() == 0 || !set_bias(patch, claim, node)) return std::nullopt;
  return claim;
}

// There is no kernel of its own; what is gained is what can be folded into the weight.
std::optional<Claim> claim_transposed(Patch& patch, const GraphNode& node) {
  const Shape* shape = float_weight_shape(patch.graph(), node.inputs[1]);
  if (!shape || shape->size() < 3 || !is_float(patch, node.inputs[0])) return std::nullopt;
  Claim claim;
  claim.kind = Claim::Kind::TransposedConvolution;
  claim.x = node.inputs[0];
  claim.weight = node.inputs[1];
  claim.transposed = node.params.get<ConvTransposeParams>();
  claim.outputs = (*shape)[1].value() * claim.transposed.group;
  claim.rank = shape->size();
  claim.channel_from_end = static_cast<int>(shape->size()) - 1;
  if (claim.outputs == 0 || !set_bias(patch, claim, node)) return std::nullopt;
  return claim;
}

std::optional<Claim> claim_node(Patch& patch, const GraphNode& node) {
  switch (node.op) {
    case OpId::MatMul:
      return claim_matmul(patch, node);
    case OpId::Gemm:
      return claim_gemm(patch, node);
    case OpId::Conv:
      return claim_conv(patch, node);
    default:
      return claim_transposed(patch, node);
  }
}

Attempt match(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  // What weights alone decide is computed with them, and not in every run.
  if (graph.value(node.outputs[0]).folds) return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, "claim_products");
  auto claim = claim_node(*patch, node);
  if (!claim) return Attempt::no("the weight is not a float32 tensor that depends on constants alone");
  claim->nodes = {root};
  claim->result = node.outputs[0];
  extend_claim(*patch, *claim);
  // A transposed convolution has no kernel of its own; what is gained is what can be folded into its weight.
  if (claim->kind == Claim::Kind::TransposedConvolution && claim->nodes.size() == 1) return Attempt::none();
  emit_claim(*patch, *claim);
  return Attempt::of(std::move(patch));
}

}  // namespace

const Shape* float_weight_shape(const Graph& graph, ValueId v) {
  return v != kNone && graph.value(v).type.dtype == DType::Float32 ? weight_shape(graph, v) : nullptr;
}

const Rule& claim_products() {
  static const Rule rule{"claim_products", {OpId::MatMul, OpId::Gemm, OpId::Conv, OpId::ConvTranspose}, match};
  return rule;
}

}  // namespace tenon
