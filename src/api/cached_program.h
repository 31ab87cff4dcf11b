#pragma once

#include <memory>
#include <string>

#include "api/model_handle.h"
#include "build/cache/cache_folder.h"
#include "swap/weight_snapshot.h"

namespace tenon::api {

// A compiled model with packed weights.
struct CachedProgram {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const WeightSnapshot> weights;
  Hash128 plan_key;
};

// Takes it from the compile cache, and compiles it into the cache when it is not there. A compile by the command line
// finds the same.
Result<CachedProgram> program_through_cache(const tn_model& model, const std::string& target,
                                            const build::CacheOptions& cache, tn_context* context);

}  // namespace tenon::api
