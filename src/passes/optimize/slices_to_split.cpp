// Slices that cut a value into all its parts along one axis.
#include <algorithm>

#include "ops/split.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/slice_ranges.h"

namespace tenon {

namespace {

constexpr std::string_view kSlicesToSplit = "slices_to_split";

struct Part {
  NodeId node;
  int64_t axis = 0, start = 0, end = 0;
};

// The part that a Slice of one axis takes; nothing for others.
std::optional<Part> part_of(Graph& graph, NodeId id) {
  const GraphNode& node = graph.node(id);
  const auto bounds = bounds_of(graph, node, kSlicesToSplit);
  const auto& shape = graph.value(node.inputs[0]).type.shape;
  if (!bounds || bounds->size() != 1 || !shape) return std::nullopt;
  const auto& [axis, range] = *bounds->begin();
  const Dim& extent = (*shape)[static_cast<size_t>(axis)];
  if (!extent.is_constant() || range.step != 1) return std::nullopt;
  const SliceRange taken = clamp_slice(extent.value(), range.start, range.end, 1);
  return Part{id, axis, taken.start, taken.start + taken.count};
}

// The first reader of the value that slices it is the root.
std::vector<Part> parts_of(Graph& graph, ValueId x) {
  std::vector<Part> parts;
  for (const Use& use : graph.value(x).uses) {
    if (use.kind != Use::Kind::Input || use.index != 0 || graph.node(use.node).op != OpId::Slice) continue;
    if (const auto part = part_of(graph, use.node)) parts.push_back(*part);
  }
  std::ranges::sort(parts, {}, &Part::start);
  return parts;
}

bool are_all_parts(const std::vector<Part>& parts, int64_t extent) {
  int64_t at = 0;
  for (const Part& part : parts) {
    if (part.axis != parts[0].axis || part.start != at || part.end <= part.start) return false;
    at = part.end;
  }
  return at == extent;
}

Attempt match_parts(Graph& graph, NodeId root) {
  const ValueId x = graph.node(root).inputs[0];
  const auto own = part_of(graph, root);
  if (!own || own->start != 0 || graph.value(x).folds) return Attempt::none();
  const std::vector<Part> parts = parts_of(graph, x);
  const Dim extent = (*graph.value(x).type.shape)[static_cast<size_t>(own->axis)];
  if (parts.size() < 2 || !are_all_parts(parts, extent.value())) return Attempt::none();
  std::vector<int64_t> sizes;
  for (const Part& part : parts) sizes.push_back(part.end - part.start);
  auto patch = std::make_unique<Patch>(graph, root, kSlicesToSplit);
  patch->set_reason("the Slices of its input are all parts of it");
  SplitParams params;
  params.axis = own->axis;
  const auto made = patch->ops(OpId::Split, {x, patch->integers(sizes)}, Params::of(params), parts.size());
  for (size_t i = 0; i < parts.size(); ++i) patch->redefine(graph.node(parts[i].node).outputs[0], made[i]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule slices_to_split() { return {kSlicesToSplit, {OpId::Slice}, match_parts}; }

}  // namespace tenon
