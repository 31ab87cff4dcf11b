#pragma once

#include <cstdint>

#include "base/nesting.h"

namespace tenon {

// Three quarters of the memory that the machine or the container has.
int64_t default_memory_limit();

// Bounds that hold whatever a model or a caller asks for.
struct Limits {
  int64_t memory_bytes = default_memory_limit();  // per session, all runs together
  int64_t loop_iterations = 10'000'000;           // per run, all loops together
  int64_t cached_bindings = 64;                   // per plan
  int max_body_depth = kMostNesting;              // If inside Loop inside ...
};

}  // namespace tenon
