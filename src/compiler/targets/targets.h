#pragma once

#include "compiler/lower.h"

// What each target makes of a graph.
namespace tenon {

// Every node to the reference kernel of its op, weights as they are: the oracle.
Result<LoweredModel> lower_for_reference(const Graph& graph);
// Products, convolutions and recurrent layers to packed kernels, with what follows them folded in; everything else
// to the reference kernels.
Result<LoweredModel> lower_for_cpu(const Graph& graph);

}  // namespace tenon
