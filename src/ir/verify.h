#pragma once

#include <span>

#include "ir/graph.h"

namespace tenon {

#ifdef NDEBUG
inline constexpr bool kVerifyPatches = false;
#else
inline constexpr bool kVerifyPatches = true;
#endif

// What must hold for some nodes and the values they read and make: ids exist, data flows forwards, lists of uses are
// true, arities fit, and facts are what inference says. An error is a mistake of whoever changed the graph.
Status verify_nodes(const Graph& graph, std::span<const NodeId> nodes);
// The same for a whole graph and its bodies, and that every value has one definition.
Status verify(const Graph& graph);

}  // namespace tenon
