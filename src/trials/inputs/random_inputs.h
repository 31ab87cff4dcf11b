#pragma once

#include <map>
#include <string>
#include <vector>

#include "executor/limits.h"
#include "ir/graph.h"
#include "tensor/value.h"

namespace tenon {

struct RandomInputOptions {
  uint64_t seed = 0;
  std::map<std::string, int64_t> dims;                 // symbols of the inputs' shapes
  std::map<std::string, std::vector<int64_t>> shapes;  // by input name
  size_t sizes = 0;                                    // which extents for symbols nobody decides: choose_extents
  int64_t memory_bytes = default_memory_limit();       // of all values drawn, whatever the model declares
};

// One value per graph input: those given stay as they are, inputs with a default stay empty, the others are drawn
// within what the nodes that read them accept. The shapes of given inputs decide symbols; the others get
// extents that the nodes accept. Equal arguments give equal values on every machine, and an
// input's values depend neither on the other inputs nor on their order of being given.
Result<std::vector<Value>> random_inputs(const Graph& graph, const RandomInputOptions& options,
                                         std::vector<Value> given);

}  // namespace tenon
