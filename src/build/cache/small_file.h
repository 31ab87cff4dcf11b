#pragma once

#include <string>

#include "base/status.h"
#include "build/json.h"

namespace tenon::build {

// A JSON file of a few lines; null when it is missing, large or something else.
Json read_small_json(const std::string& path);
Status write_small_json(const std::string& path, const Json& value);

}  // namespace tenon::build
