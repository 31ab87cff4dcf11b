#pragma once

#include "ir/graph.h"

// Who reads a value.
namespace tenon {

// The one node that reads v, or kNone when several do, a body does, or v leaves the graph.
NodeId only_reader(const Graph& graph, ValueId v);
// What a node reads: its inputs (kNone: absent) and what its bodies take from outside.
std::vector<ValueId> operands_of(const GraphNode& node);
// The node that computes v when it is of this op, or null.
const GraphNode* maker(const Graph& graph, ValueId v, OpId op);
// The dims of a tensor that depends on constants alone; null for all other values.
const Shape* weight_shape(const Graph& graph, ValueId v);

}  // namespace tenon
