#pragma once

#include <string>

#include "cli/json.h"

namespace cli {

// A value as people read it, from what tn_value_describe says of it; lines are indented.
std::string value_text(const std::string& name, const Json& value);

}  // namespace cli
