#include "passes/optimize/slice_ranges.h"

#include "ops/gather.h"
#include "passes/optimize/axes.h"
#include "passes/optimize/constants.h"

namespace tenon {

std::optional<std::map<int64_t, SliceBounds>> bounds_of(Graph& graph, const GraphNode& slice, std::string_view asker) {
  const auto operand = [&](size_t i) { return i < slice.inputs.size() ? slice.inputs[i] : ValueId(kNone); };
  const auto starts = known_integers(graph, operand(1), asker), ends = known_integers(graph, operand(2), asker);
  const auto axes = known_integers(graph, operand(3), asker), steps = known_integers(graph, operand(4), asker);
  if (!starts || !ends || (operand(3) != kNone && !axes) || (operand(4) != kNone && !steps)) return std::nullopt;
  const auto rank = rank_of(graph, slice.inputs[0]);
  std::map<int64_t, SliceBounds> bounds;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < 0 && !rank) return std::nullopt;
    if (axis < 0) axis += *rank;
    if (!bounds.emplace(axis, SliceBounds{(*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1}).second)
      return std::nullopt;
  }
  return bounds;
}

std::optional<int64_t> axis_from_front(const Graph& graph, int64_t axis, ValueId v) {
  if (axis >= 0) return axis;
  const auto rank = rank_of(graph, v);
  return rank ? std::optional(axis + *rank) : std::nullopt;
}

std::optional<int64_t> extent_of(const Graph& graph, ValueId v, int64_t axis) {
  const auto& shape = graph.value(v).type.shape;
  return shape && axis < static_cast<int64_t>(shape->size()) ? (*shape)[static_cast<size_t>(axis)].constant()
                                                             : std::nullopt;
}

namespace {

std::optional<Stretch> stretch_of_slice(Graph& graph, const GraphNode& node, std::string_view asker) {
  const auto bounds = bounds_of(graph, node, asker);
  if (!bounds || bounds->size() != 1) return std::nullopt;
  const auto& [axis, range] = *bounds->begin();
  const auto extent = extent_of(graph, node.inputs[0], axis);
  if (!extent || range.step != 1) return std::nullopt;
  const SliceRange taken = clamp_slice(*extent, range.start, range.end, 1);
  return Stretch{node.inputs[0], axis, taken.start, taken.start + taken.count, *extent};
}

std::optional<Stretch> stretch_of_gather(Graph& graph, const GraphNode& node, std::string_view asker) {
  const auto axis = axis_from_front(graph, node.params.get<GatherParams>().axis, node.inputs[0]);
  const auto extent = axis ? extent_of(graph, node.inputs[0], *axis) : std::nullopt;
  if (!extent || rank_of(graph, node.inputs[1]) != 1) return std::nullopt;
  const auto indices = known_integers(graph, node.inputs[1], asker);
  if (!indices || indices->empty()) return std::nullopt;
  const int64_t start = indices->front() + (indices->front() < 0 ? *extent : 0);
  for (size_t i = 0; i < indices->size(); ++i) {
    const int64_t index = (*indices)[i] + ((*indices)[i] < 0 ? *extent : 0);
    if (index != start + static_cast<int64_t>(i) || index < 0 || index >= *extent) return std::nullopt;
  }
  return Stretch{node.inputs[0], *axis, start, start + static_cast<int64_t>(indices->size()), *extent};
}

}  // namespace

std::optional<Stretch> stretch_of(Graph& graph, const GraphNode& node, std::string_view asker) {
  if (node.op == OpId::Slice) return stretch_of_slice(graph, node, asker);
  return node.op == OpId::Gather ? stretch_of_gather(graph, node, asker) : std::nullopt;
}

ValueId sliced(Patch& patch, const Stretch& s) {
  return patch.op(OpId::Slice, {s.of, patch.integers({s.start}), patch.integers({s.end}), patch.integers({s.axis})});
}

}  // namespace tenon
