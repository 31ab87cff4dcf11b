#include "passes/optimize/slice_ranges.h"

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

}  // namespace tenon
