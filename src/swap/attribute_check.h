#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "swap/weight_snapshot.h"

namespace tenon {

// New weights bring no attributes along: where the model that they come from has others (an epsilon, strides, a mode)
// than the one that was compiled, results are not those of that model. One sentence for each such attribute, with its
// node and both values. Nodes are found by name, so nothing is found without the debug map of a compiled model.
std::vector<std::string> differing_attributes(const Program& program, const WeightSnapshot& weights,
                                              const WeightSource& source);

}  // namespace tenon
