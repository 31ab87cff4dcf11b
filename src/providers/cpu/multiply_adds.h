#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Computes multiply-adds that wait for nothing but each other, and returns how many operations on single numbers that
// was. `result` keeps the compiler from leaving them out.
int64_t run_multiply_adds(Isa isa, int64_t rounds, float* result);

}  // namespace tenon
