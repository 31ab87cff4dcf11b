#include "compiler/targets/cpu/claim.h"
#include "ops/packed.h"
#include "ops/split.h"

namespace tenon {

namespace {

// All nodes that the kernel stands for.
std::string name_of(const GraphEdit& edit, const Claim& claim) {
  std::string name;
  for (const NodeId id : claim.nodes) name += (name.empty() ? "" : " + ") + edit.node(id).name;
  return name;
}

ValueId pack(GraphEdit& edit, const Claim& claim, PackPanelsParams params) {
  std::vector<ValueId> inputs{claim.weight};
  if (claim.scale != kNone || !claim.neighbours.empty()) inputs.push_back(claim.scale);
  inputs.insert(inputs.end(), claim.neighbours.begin(), claim.neighbours.end());
  return edit.emit(OpId::PackPanels, Params::of(std::move(params)), std::move(inputs));
}

std::vector<ValueId> kernel_inputs(const Claim& claim, ValueId weight) {
  std::vector<ValueId> inputs{claim.x, weight};
  if (claim.bias != kNone) inputs.push_back(claim.bias);
  return inputs;
}

void emit_product(GraphEdit& edit, const Claim& claim) {
  const ValueId weight = pack(edit, claim, {claim.source, kPanelsLayout, 1});
  edit.emit_into(OpId::PackedMatMul, Params::of(PackedMatMulParams{claim.outputs, claim.depth, claim.activation}),
                 kernel_inputs(claim, weight), {claim.result}, name_of(edit, claim));
  if (claim.split.results.empty()) return;
  edit.emit_into(OpId::Split, Params::of(SplitParams{-1, std::nullopt}),
                 {claim.result, edit.constant(Tensor::of_ints(claim.split.widths))}, claim.split.results,
                 name_of(edit, claim));
}

void emit_convolution(GraphEdit& edit, const Claim& claim) {
  const Shape& shape = *edit.type(claim.weight).shape;
  // As many groups as channels: each channel has a filter of its own.
  const bool depthwise = claim.conv.group > 1 && shape[1].value() == 1;
  const std::string layout = depthwise ? kDepthwiseLayout : kPanelsLayout;
  const ValueId weight = pack(edit, claim, {"nk", layout, depthwise ? 1 : claim.conv.group});
  edit.emit_into(OpId::PackedConv, Params::of(PackedConvParams{claim.conv, claim.outputs, layout, claim.activation}),
                 kernel_inputs(claim, weight), {claim.result}, name_of(edit, claim));
}

// The weight [inputs, outputs / group, ...] with each output channel scaled.
ValueId scaled_weight(GraphEdit& edit, const Claim& claim) {
  if (claim.scale == kNone) return claim.weight;
  const Shape shape = *edit.type(claim.weight).shape;
  const int64_t group = claim.transposed.group;
  std::vector<int64_t> original, grouped{group, shape[0].value() / group}, factors{group, 1, claim.outputs / group};
  for (const Dim& d : shape) original.push_back(d.value());
  grouped.insert(grouped.end(), original.begin() + 1, original.end());
  factors.resize(grouped.size(), 1);
  const auto reshape = [&](ValueId v, const std::vector<int64_t>& dims) {
    return edit.emit(OpId::Reshape, {}, {v, edit.constant(Tensor::of_ints(dims))});
  };
  const ValueId scaled = edit.emit(OpId::Mul, {}, {reshape(claim.weight, grouped), reshape(claim.scale, factors)});
  return reshape(scaled, original);
}

}  // namespace

void emit_claim(GraphEdit& edit, const Claim& claim) {
  edit.go_to(claim.nodes[0]);
  switch (claim.kind) {
    case Claim::Kind::Product:
      emit_product(edit, claim);
      break;
    case Claim::Kind::Convolution:
      emit_convolution(edit, claim);
      break;
    case Claim::Kind::TransposedConvolution:
      edit.emit_into(OpId::ConvTranspose, Params::of(claim.transposed),
                     kernel_inputs(claim, scaled_weight(edit, claim)), {claim.result}, name_of(edit, claim));
      break;
  }
  for (NodeId id : claim.nodes) edit.remove(id);
}

}  // namespace tenon
