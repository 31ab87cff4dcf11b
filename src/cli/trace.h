#pragma once

#include <string>

#include "cli/json.h"

namespace cli {

// The steps of a profiled run (tenon::Run::profile_json) in the format of trace viewers.
std::string trace_of(const Json& steps);

}  // namespace cli
