#pragma once

#include <optional>
#include <vector>

#include "ir/patch.h"

// Queries, keys and values on their way into attention, as [batch, heads, length, size]. The nodes that these functions
// see through are added to `inside`.
namespace tenon {

// Keys or values of fewer heads, before each of them is repeated for a group of queries; v itself where none is.
ValueId before_repeat(const Graph& graph, ValueId v, std::vector<NodeId>& inside);

// What follows a past along the positions.
struct Cached {
  NodeId node;  // the Concat
  ValueId past = kNone, fresh = kNone;
};
std::optional<Cached> cached(const Graph& graph, ValueId v);

// The same as [batch, length, heads * size]: what was split into the heads, where that is known.
ValueId rows_of(Patch& patch, ValueId heads, std::vector<NodeId>& inside);

// The shape, when all four extents are known as far as symbols go, and heads and size as numbers; else null.
const Shape* heads_shape(const Graph& graph, ValueId v);

}  // namespace tenon
