#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"
#include "ops/accepted.h"

namespace tenon {

// The value of a symbol of the graph's shapes, or nothing.
using KnownDims = std::function<std::optional<int64_t>(const std::string&)>;

// What each input of a graph may hold, so that it makes sense to all nodes that depend on it; one per graph input.
// Found by walking the graph backwards once.
std::vector<Accepted> accepted_inputs(const Graph& graph, const KnownDims& dims);

}  // namespace tenon
