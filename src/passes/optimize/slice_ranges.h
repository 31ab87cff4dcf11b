#pragma once

#include <map>
#include <optional>

#include "ir/graph.h"
#include "ops/slice.h"

namespace tenon {

// What a Slice takes along each axis that it names, by axis from the front.
struct SliceBounds {
  int64_t start = 0, end = 0, step = 1;
};
// Nothing when its bounds, or axes that are counted from the end, are not known.
std::optional<std::map<int64_t, SliceBounds>> bounds_of(Graph& graph, const GraphNode& slice, std::string_view asker);

}  // namespace tenon
