#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/rewrite.h"
#include "plan/plan.h"

namespace tenon {

struct CompileOptions {
  std::string target = "cpu";       // or "cpu_exact" or "reference"
  std::vector<std::string> pinned;  // sources that no swap may change
};

// A program, and what its sources are.
struct CompiledModel {
  std::shared_ptr<const Program> program;
  std::vector<Constant> sources;
  std::vector<Miss> misses;                     // faster kernels that nodes did not get, and why
  std::map<std::string, std::string> absorbed;  // as in LoweredModel
};

Result<CompiledModel> compile(const Graph& graph, const CompileOptions& options);

}  // namespace tenon
