#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/graph.h"

namespace tenon {

using Extents = std::map<std::string, int64_t>;

// How many choices there are.
inline constexpr size_t kExtentChoices = 6;

// Extents for every symbol of the inputs' shapes, those of `decided` as they are, such that the nodes accept them as
// far as their shape rules can tell. `choice` 0 is small and usual (a batch of 1, images of 64 x 64); 1 differs from it
// in the batch and in another extent of each input, where the model leaves a choice; later ones are larger or odd, for
// models that refuse the first two for reasons no rule knows. Where nodes refuse a start value, the search follows the
// node that refuses: it keeps the change that brings most nodes to accept.
Extents choose_extents(const Graph& graph, const Extents& decided, size_t choice);

}  // namespace tenon
