#pragma once

#include <span>

#include "ir/graph.h"

namespace tenon {

// Infers everything that reads these values, and what reads that, as far as facts change. Facts only get sharper: where
// inference now knows less than before, what was known stays.
Status infer_readers(Graph& graph, std::span<const ValueId> changed);
// Infers every node of a graph from scratch, bodies too.
Status infer_graph(Graph& graph);

}  // namespace tenon
