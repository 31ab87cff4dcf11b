#pragma once

#include <string>

#include "cli/json.h"

namespace cli {

// An analysis for people. `nodes`: with a line for each node.
std::string analysis_text(const std::string& path, const Json& analysis, bool nodes);

}  // namespace cli
