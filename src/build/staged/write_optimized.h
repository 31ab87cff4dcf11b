#pragma once

#include <string>

#include "build/json.h"
#include "passes/capability.h"

namespace tenon::build {

// Writes a model in normal form, replacing what is there. The report of optimize_file.
Result<Json> write_optimized(const std::string& input, const std::string& output, const CapabilityChoice& capabilities,
                             bool force);

}  // namespace tenon::build
