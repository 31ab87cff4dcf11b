#pragma once

#include <string>

#include "cli/console.h"
#include "cli/failure.h"
#include "tenon/tenon.hpp"

namespace cli {

struct ArtifactSections {
  bool weights = false, plan = false, kernels = false, weight_program = false;
};

// What is in a compiled model.
Exit inspect_artifact(const std::string& path, const ArtifactSections& sections, Console& console);

// The weight program of a model that is not compiled yet.
Json weight_program_of(const std::string& path, const tenon::Model& model);
std::string weight_program_text(const Json& programs);

}  // namespace cli
