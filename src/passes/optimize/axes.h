#pragma once

#include <optional>
#include <string_view>

#include "ir/graph.h"

// What rules ask of axes and shapes. Nothing is assumed of what is not known.
namespace tenon {

// Whether a mean is taken over the axes of x from one on, which stay as axes of extent 1. Returns that axis, counted
// from the end.
std::optional<int64_t> tail_of_mean(Graph& graph, const GraphNode& mean, ValueId x, std::string_view asker);
// Whether v has the extents of x from an axis on, which is counted from the end, and no others.
bool is_tail_of(const Graph& graph, ValueId v, ValueId x, int64_t axis);
std::optional<int64_t> rank_of(const Graph& graph, ValueId v);
bool has_shape(const Graph& graph, ValueId v, const Shape& shape);
// Other engines have kernels of com.microsoft for this type in all their versions.
bool is_float32(const Graph& graph, ValueId v);

}  // namespace tenon
