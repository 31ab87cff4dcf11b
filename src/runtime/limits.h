#pragma once

#include <cstdint>

namespace tenon {

// Bounds that hold whatever a model or a caller asks for.
struct Limits {
  int64_t memory_bytes = int64_t{64} << 30;  // per session, all runs together
  int64_t loop_iterations = 100'000'000;     // per Loop
  int64_t cached_bindings = 64;              // per plan
  int max_body_depth = 32;                   // If inside Loop inside ...
};

}  // namespace tenon
