#include <algorithm>

#include "compiler/targets/cpu/claim.h"

namespace tenon {

namespace {

bool steps_by_one(const std::vector<int64_t>& steps) {
  return std::ranges::all_of(steps, [](int64_t step) { return step == 1; });
}

// The layout of a weight [outputs, channels of a group, kernel...]. Depends on nothing else than it and attributes, so
// that a weight is packed once for all models and machines.
PackedLayout layout_of(const std::vector<int64_t>& w, const ConvParams& p) {
  // As many groups as channels: each channel has a filter of its own.
  if (p.group > 1 && w[1] == 1) return PackedLayout::Depthwise;
  const std::span kernel = std::span(w).subspan(2);
  constexpr int64_t kMostSlices = 7;
  const bool is_small = is_winograd_kernel(kernel) && winograd_slices(kernel) <= kMostSlices && p.group == 1;
  if (!is_small || !steps_by_one(p.window.strides) || !steps_by_one(p.window.dilations)) return PackedLayout::Panels;
  // With few channels, going to the points of tiles and back costs more than the products there save.
  constexpr int64_t kFewestChannels = 16;
  // The packed weights grow by 4 or 16/9; what caches cannot hold costs more to read than it saves.
  constexpr int64_t kMost4 = int64_t{16} << 20, kMost2 = int64_t{32} << 20;
  // Slices of a kernel read the points of their inputs together.
  const int64_t slices = winograd_slices(kernel), depth = slices * std::min(w[1], kMost2);
  if (w[0] < kFewestChannels || depth < kFewestChannels) return PackedLayout::Panels;
  const auto fits = [&](PackedLayout layout, int64_t most) {
    return w[0] <= most && depth <= most / w[0] / winograd_points(layout) / int64_t{sizeof(float)};
  };
  if (fits(PackedLayout::Winograd4, kMost4)) return PackedLayout::Winograd4;
  return fits(PackedLayout::Winograd2, kMost2) ? PackedLayout::Winograd2 : PackedLayout::Panels;
}

Attempt match_convolution(Graph& graph, NodeId root, bool exact) {
  const GraphNode& node = graph.node(root);
  if (graph.value(node.outputs[0]).folds) return Attempt::none();
  const ValueId weight = node.inputs[1];
  const Shape* shape = float_weight_shape(graph, weight);
  if (!shape || shape->size() < 3 || shape->size() > 5) return Attempt::no(why_no_weight(graph, weight));
  if (element_count(*shape).equals(0)) return Attempt::no("its weight is empty");
  auto [patch, claim] = begin_claim(graph, root, "claim_convolution");
  claim.keeps_weight = exact;
  if (!is_float(graph, claim.x)) return Attempt::no("its input is not a float32 tensor");
  if (!take_bias_input(graph, claim, node)) return Attempt::no("its bias does not depend on constants alone");
  PackedConvParams params{.conv = node.params.get<ConvParams>(), .output_channels = (*shape)[0].value()};
  std::vector<int64_t> extents;
  for (const Dim& extent : *shape) extents.push_back(extent.value());
  params.conv.window.kernel_shape.assign(extents.begin() + 2, extents.end());
  params.layout = layout_of(extents, params.conv);
  if (exact && winograd_outputs(params.layout) > 0) params.layout = PackedLayout::Panels;
  claim.rank = shape->size();
  claim.channel_from_end = static_cast<int>(shape->size()) - 1;
  claim.outputs = params.output_channels;
  claim.takes_addend = true;

  extend_claim(*patch, claim);
  params.activation = claim.activation;
  PackPanelsParams packing{.layout = params.layout};
  if (params.layout == PackedLayout::Panels) packing.groups = params.conv.group;
  const ValueId packed = patch->op(OpId::PackPanels, {weight, claim.scale}, Params::of(packing));
  emit_kernel(*patch, claim, OpId::PackedConv, Params::of(std::move(params)), packed);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule claim_convolution(bool exact) {
  return {"claim_convolution", {OpId::Conv}, [exact](Graph& graph, NodeId root) {
            return match_convolution(graph, root, exact);
          }};
}

}  // namespace tenon
