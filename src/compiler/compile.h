#pragma once

#include <memory>
#include <vector>

#include "ir/graph.h"
#include "plan/plan.h"

namespace tenon {

// A program with the bytes of its slots.
struct CompiledModel {
  std::shared_ptr<const Program> program;
  std::vector<Tensor> slots;
};

// Every node to the reference kernel of its op, no passes: the oracle.
Result<CompiledModel> compile_reference(const Graph& graph);

}  // namespace tenon
