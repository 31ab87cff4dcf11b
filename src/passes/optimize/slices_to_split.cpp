// Slices, and Gathers of indices in a row, that take all parts of a value along one axis.
#include <algorithm>

#include "ops/split.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/slice_ranges.h"

namespace tenon {

namespace {

constexpr std::string_view kSlicesToSplit = "slices_to_split";

struct Part {
  NodeId node;
  Stretch taken;
};

// What the readers of a value take of it, in order.
std::vector<Part> parts_of(Graph& graph, ValueId x) {
  std::vector<Part> parts;
  for (const Use& use : graph.value(x).uses) {
    if (use.kind != Use::Kind::Input || use.index != 0) continue;
    if (const auto taken = stretch_of(graph, graph.node(use.node), kSlicesToSplit)) parts.push_back({use.node, *taken});
  }
  std::ranges::sort(parts, {}, [](const Part& part) { return part.taken.start; });
  return parts;
}

bool are_all_parts(const std::vector<Part>& parts) {
  int64_t at = 0;
  for (const auto& [node, taken] : parts) {
    if (taken.axis != parts[0].taken.axis || taken.start != at || taken.end <= taken.start) return false;
    at = taken.end;
  }
  return at == parts[0].taken.extent;
}

// The reader that takes the beginning is the root.
Attempt match_parts(Graph& graph, NodeId root) {
  const ValueId x = graph.node(root).inputs[0];
  const auto own = stretch_of(graph, graph.node(root), kSlicesToSplit);
  if (!own || own->start != 0 || graph.value(x).folds) return Attempt::none();
  const std::vector<Part> parts = parts_of(graph, x);
  if (parts.size() < 2 || !are_all_parts(parts)) return Attempt::none();
  std::vector<int64_t> sizes;
  for (const auto& [node, taken] : parts) sizes.push_back(taken.end - taken.start);
  auto patch = std::make_unique<Patch>(graph, root, kSlicesToSplit);
  patch->set_reason("what is taken of its input are all parts of it");
  SplitParams params;
  params.axis = own->axis;
  const auto made = patch->ops(OpId::Split, {x, patch->integers(sizes)}, Params::of(params), parts.size());
  for (size_t i = 0; i < parts.size(); ++i) patch->redefine(graph.node(parts[i].node).outputs[0], made[i]);
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule slices_to_split() { return {kSlicesToSplit, {OpId::Slice, OpId::Gather}, match_parts, 2}; }

}  // namespace tenon
