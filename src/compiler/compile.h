#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/plan.h"

namespace tenon {

struct CompileOptions {
  std::string target = "cpu";       // or "reference"
  std::vector<std::string> pinned;  // sources that no swap may change
};

// A program, and what its sources are.
struct CompiledModel {
  std::shared_ptr<const Program> program;
  std::vector<Constant> sources;
};

Result<CompiledModel> compile(const Graph& graph, const CompileOptions& options);

}  // namespace tenon
