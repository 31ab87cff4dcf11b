#pragma once

#include <span>
#include <string>

#include "passes/pipeline.h"

namespace tenon {

// Differs whenever a rule, its order, inference or the way models are written makes another normal form: a model that
// was stamped under another version is looked at again.
std::string pass_set_version();
// The version of these phases.
std::string pass_set_version(std::span<const Phase> phases, int inference);

}  // namespace tenon
