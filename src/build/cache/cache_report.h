#pragma once

#include <string>

#include "base/status.h"

namespace tenon::build {

// What the cache has, as JSON: {folder, models, weights_files, graphs, bytes, most_bytes}. `folder`: "" for the user's;
// in the result "" when there is none.
std::string cache_json(const std::string& folder);
// Empties the cache: {folder, freed_bytes}.
Result<std::string> clear_cache_json(const std::string& folder);

}  // namespace tenon::build
