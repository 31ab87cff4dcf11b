#pragma once

#include <map>
#include <string>

#include "passes/capability.h"

namespace tenon::api {

// What options capability:NAME=1|0 come to.
Result<CapabilityChoice> read_capabilities(const std::map<std::string, int64_t>& switches);

}  // namespace tenon::api
