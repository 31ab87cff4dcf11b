#pragma once

#include <string>
#include <vector>

#include "cli/json.h"

namespace cli {

struct CompilerInfo {
  std::string name, alias;
  std::string what;
  std::string problem;  // "": it can be used here
  std::string state() const { return problem.empty() ? "usable" : "not usable: " + problem; }
};

// Every compiler that can be chosen, probed at the moment of the call.
std::vector<CompilerInfo> probe_compilers();
Json compilers_json(const std::vector<CompilerInfo>& compilers);
// The name for a name or alias; "" when there is none.
std::string find_compiler(const std::string& name);
// The same; Failure(kUsage) when there is none.
std::string compiler_name(const std::string& name);

}  // namespace cli
