#pragma once

#include <map>
#include <optional>

#include "ir/patch.h"
#include "ops/slice.h"

namespace tenon {

// What a Slice takes along each axis that it names, by axis from the front.
struct SliceBounds {
  int64_t start = 0, end = 0, step = 1;
};
// Nothing when its bounds, or axes that are counted from the end, are not known.
std::optional<std::map<int64_t, SliceBounds>> bounds_of(Graph& graph, const GraphNode& slice, std::string_view asker);

// A stretch of a value along one axis, which is counted from the front.
struct Stretch {
  ValueId of = kNone;
  int64_t axis = 0, start = 0, end = 0, extent = 0;
};
// What a Slice takes, or a Gather of indices in a row; nothing when it takes something else, or the extent is not
// known.
std::optional<Stretch> stretch_of(Graph& graph, const GraphNode& node, std::string_view asker);
// The Slice that takes it.
ValueId sliced(Patch& patch, const Stretch& stretch);

// An axis counted from the front; nothing when the rank of v is not known.
std::optional<int64_t> axis_from_front(const Graph& graph, int64_t axis, ValueId v);
// The extent of v along an axis from the front, as a number.
std::optional<int64_t> extent_of(const Graph& graph, ValueId v, int64_t axis);

}  // namespace tenon
