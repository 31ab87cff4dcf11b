#include "compiler/targets/cpu/claim.h"
#include "ops/packed.h"

namespace tenon {

namespace {

ValueId pack(Patch& patch, const Claim& claim, PackPanelsParams params) {
  return patch.op(OpId::PackPanels, {claim.weight, claim.scale}, Params::of(std::move(params)));
}

std::vector<ValueId> kernel_inputs(const Claim& claim, ValueId weight) {
  // Absent ones at the end go.
  return {claim.x, weight, claim.bias, claim.least, claim.greatest};
}

// The kernel stands for all claimed nodes, and so does its name.
void emit_kernel(Patch& patch, const Claim& claim, OpId op, Params params, ValueId weight) {
  patch.set_name(claimed_names(patch.graph(), claim.nodes));
  patch.redefine(claim.result, patch.op(op, kernel_inputs(claim, weight), std::move(params)));
}

void emit_product(Patch& patch, const Claim& claim) {
  const ValueId weight = pack(patch, claim, {claim.source, kPanelsLayout, 1});
  emit_kernel(patch, claim, OpId::PackedMatMul,
              Params::of(PackedMatMulParams{claim.outputs, claim.depth, claim.activation}), weight);
}

void emit_convolution(Patch& patch, const Claim& claim) {
  const Shape& shape = *patch.type(claim.weight).shape;
  // As many groups as channels: each channel has a filter of its own.
  const bool depthwise = claim.conv.group > 1 && shape[1].value() == 1;
  const std::string layout = depthwise ? kDepthwiseLayout : kPanelsLayout;
  const ValueId weight = pack(patch, claim, {"nk", layout, depthwise ? 1 : claim.conv.group});
  emit_kernel(patch, claim, OpId::PackedConv,
              Params::of(PackedConvParams{claim.conv, claim.outputs, layout, claim.activation}), weight);
}

// The weight [inputs, outputs / group, ...] with each output channel scaled.
ValueId scaled_weight(Patch& patch, const Claim& claim) {
  if (claim.scale == kNone) return claim.weight;
  const Shape shape = *patch.type(claim.weight).shape;
  const int64_t group = claim.transposed.group;
  std::vector<int64_t> original, grouped{group, shape[0].value() / group}, factors{group, 1, claim.outputs / group};
  for (const Dim& d : shape) original.push_back(d.value());
  grouped.insert(grouped.end(), original.begin() + 1, original.end());
  factors.resize(grouped.size(), 1);
  const auto reshape = [&](ValueId v, const std::vector<int64_t>& dims) {
    return patch.op(OpId::Reshape, {v, patch.integers(dims)});
  };
  const ValueId scaled = patch.op(OpId::Mul, {reshape(claim.weight, grouped), reshape(claim.scale, factors)});
  return reshape(scaled, original);
}

}  // namespace

void emit_claim(Patch& patch, const Claim& claim) {
  switch (claim.kind) {
    case Claim::Kind::Product:
      return emit_product(patch, claim);
    case Claim::Kind::Convolution:
      return emit_convolution(patch, claim);
    case Claim::Kind::TransposedConvolution:
      return emit_kernel(patch, claim, OpId::ConvTranspose, Params::of(claim.transposed), scaled_weight(patch, claim));
  }
}

std::string claimed_names(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string names;
  for (const NodeId id : nodes) names += (names.empty() ? "" : " + ") + graph.node(id).name;
  return names;
}

}  // namespace tenon
