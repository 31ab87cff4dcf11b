#include "compiler/targets/cpu/claim.h"

#include "ir/readers.h"
#include "ops/transpose.h"

namespace tenon {

Beginning begin_claim(Graph& graph, NodeId root, std::string_view claimer) {
  const GraphNode& node = graph.node(root);
  Claim claim;
  claim.nodes = {root};
  claim.x = node.inputs[0];
  claim.result = node.outputs[0];
  return {std::make_unique<Patch>(graph, root, claimer), std::move(claim)};
}

const Shape* float_weight_shape(const Graph& graph, ValueId v) {
  return is_float(graph, v) ? weight_shape(graph, v) : nullptr;
}

bool is_float(const Graph& graph, ValueId v) { return v != kNone && graph.value(v).type.dtype == DType::Float32; }

std::string why_no_weight(const Graph& graph, ValueId v) {
  const Type& type = graph.value(v).type;
  if (!weight_shape(graph, v)) return "its weight does not depend on constants alone";
  if (type.dtype != DType::Float32)
    return fmt::format("its weight is {}; packed kernels multiply float32", dtype_name(type.dtype));
  return fmt::format("no packed kernel supports a weight of shape {}", shape_text(*type.shape));
}

bool take_bias_input(const Graph& graph, Claim& claim, const GraphNode& node) {
  if (node.inputs.size() < 3 || node.inputs[2] == kNone) return true;
  if (!float_weight_shape(graph, node.inputs[2])) return false;
  claim.bias = node.inputs[2];
  return true;
}

void emit_kernel(Patch& patch, const Claim& claim, OpId op, Params params, ValueId weight) {
  // The kernel stands for all claimed nodes, and so does its name.
  patch.set_name(claimed_names(patch.graph(), claim.nodes));
  // Absent inputs at the end go.
  std::vector<ValueId> inputs{claim.x, weight, claim.bias, claim.least, claim.greatest};
  if (claim.addend != kNone) inputs.push_back(claim.addend);
  patch.redefine(claim.result, patch.op(op, inputs, std::move(params)));
}

std::optional<WeightMatrix> weight_matrix(const Graph& graph, ValueId v, bool transposed) {
  const Shape* shape = float_weight_shape(graph, v);
  if (!shape || shape->size() != 2) return std::nullopt;
  if (const GraphNode* transpose = maker(graph, v, OpId::Transpose)) {
    const auto& perm = transpose->params.get<TransposeParams>().perm;
    const ValueId original = transpose->inputs[0];
    const bool swaps = !perm || *perm == std::vector<int64_t>{1, 0};
    if (const Shape* before = float_weight_shape(graph, original); swaps && before) {
      v = original;
      shape = before;
      transposed = !transposed;
    }
  }
  const int64_t outputs = (*shape)[transposed ? 0 : 1].value(), depth = (*shape)[transposed ? 1 : 0].value();
  if (outputs == 0) return std::nullopt;
  return WeightMatrix{v, transposed ? WeightOrder::OutputsFirst : WeightOrder::DepthFirst, outputs, depth};
}

void emit_product(Patch& patch, const Claim& claim, const WeightMatrix& matrix) {
  const ValueId weight =
      patch.op(OpId::PackPanels, {matrix.weight, claim.scale}, Params::of(PackPanelsParams{.source = matrix.order}));
  emit_kernel(patch, claim, OpId::PackedMatMul,
              Params::of(PackedMatMulParams{{matrix.outputs}, matrix.depth, claim.activation}), weight);
}

std::string claimed_names(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string names;
  for (const NodeId id : nodes) names += (names.empty() ? "" : " + ") + graph.node(id).name;
  return names;
}

}  // namespace tenon
