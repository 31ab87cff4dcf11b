#pragma once

#include "ir/graph.h"

namespace tenon {

// Whether the nodes of a group are written as the one node of com.microsoft that was read, also when they leave the
// body or the function that it is in. Other nodes are written one by one.
bool moves_whole(const Graph& graph, GroupId id);

}  // namespace tenon
