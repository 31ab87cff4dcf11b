#pragma once

#include <string>

#include "build/json.h"
#include "ir/graph.h"

namespace tenon::build {

struct NodePlacement {
  Json nodes = Json::array();  // as analyze() has them
  size_t steps = 0;            // those of bodies included
  std::string error;           // why the model cannot be compiled
};

// What runs each node of a graph and its bodies on a target.
Result<NodePlacement> place_nodes(const Graph& graph, const std::string& target);

}  // namespace tenon::build
