// A Slice of a Slice. Along an axis that both name, the extent must be known.
#include <algorithm>

#include "ir/readers.h"
#include "passes/optimize/rules.h"
#include "passes/optimize/slice_ranges.h"

namespace tenon {

namespace {

constexpr std::string_view kMergeSlices = "merge_slices";

// The second range of the first one.
std::optional<SliceBounds> composed(const Graph& graph, ValueId x, int64_t axis, const SliceBounds& first,
                                    const SliceBounds& second) {
  const auto& shape = graph.value(x).type.shape;
  const Dim* extent = shape ? &(*shape)[static_cast<size_t>(axis)] : nullptr;
  if (!extent || !extent->is_constant() || first.step < 1 || second.step < 1) return std::nullopt;
  const SliceRange outer = clamp_slice(extent->value(), first.start, first.end, first.step);
  const SliceRange inner = clamp_slice(outer.count, second.start, second.end, second.step);
  const int64_t step = outer.step * inner.step, start = outer.start + inner.start * outer.step;
  return SliceBounds{start, inner.count == 0 ? start : start + (inner.count - 1) * step + 1, step};
}

Attempt match_slices(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* inner = maker(graph, node.inputs[0], OpId::Slice);
  if (!inner) return Attempt::none();
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  const auto first = bounds_of(graph, *inner, kMergeSlices), second = bounds_of(graph, node, kMergeSlices);
  if (!first || !second) return Attempt::no("its bounds are not known");
  auto merged = *first;
  for (const auto& [axis, bounds] : *second) {
    const auto [it, is_new] = merged.emplace(axis, bounds);
    if (is_new) continue;
    const auto both = composed(graph, inner->inputs[0], axis, it->second, bounds);
    if (!both) return Attempt::no("the extent of an axis that is sliced twice is not known");
    it->second = *both;
  }
  std::vector<int64_t> starts, ends, axes, steps;
  for (const auto& [axis, bounds] : merged) {
    starts.push_back(bounds.start);
    ends.push_back(bounds.end);
    axes.push_back(axis);
    steps.push_back(bounds.step);
  }
  auto patch = std::make_unique<Patch>(graph, root, kMergeSlices);
  patch->set_reason("one Slice does what two do");
  const bool is_plain = std::ranges::all_of(steps, [](int64_t step) { return step == 1; });
  patch->redefine(node.outputs[0],
                  patch->op(OpId::Slice, {inner->inputs[0], patch->integers(starts), patch->integers(ends),
                                          patch->integers(axes), is_plain ? kNone : patch->integers(steps)}));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule merge_slices() { return {kMergeSlices, {OpId::Slice}, match_slices}; }

}  // namespace tenon
