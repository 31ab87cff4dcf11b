#pragma once

#include "compiler/lower.h"

// What each target makes of a graph.
namespace tenon {

// Every node to the reference kernel of its op, weights as they are: the oracle.
Result<LoweredModel> lower_for_reference(const Graph& graph);
// Products, convolutions and recurrent layers to packed kernels, with what follows them folded in; everything else
// to the reference kernels.
// exact: each op computes what the model says of it and no algorithm adds roundings, so that errors are those of its
// sums: no tiles of Winograd, no factors in weights, no ops that several others are put together to.
Result<LoweredModel> lower_for_cpu(const Graph& graph, bool exact = false);

}  // namespace tenon
