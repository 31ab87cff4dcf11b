#pragma once

#include <map>
#include <memory>
#include <string>

#include "build/cache/kept_graphs.h"
#include "passes/capability.h"

namespace tenon::api {

class OptionReader;

// What options capability:NAME=1|0 come to.
Result<CapabilityChoice> read_capabilities(const std::map<std::string, int64_t>& switches);

// cache (off by default), cache_dir and cache_bytes.
void read_cache_options(OptionReader& reader, build::CacheOptions& cache);
// Null when the cache is off. A folder that somebody named must work; without the user's own, things only take longer.
Result<std::unique_ptr<build::KeptGraphs>> open_kept_graphs(const build::CacheOptions& options);

}  // namespace tenon::api
