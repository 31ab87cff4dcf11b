#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"

namespace tenon {

// The instruction sets that this machine runs and kernels are compiled for, best first: "avx512", "avx2", "sse4",
// "neon", "scalar".
std::vector<std::string_view> cpu_isas();
// The one that kernels use.
std::string_view cpu_isa();
// From now on kernels of the process use this instruction set, or the next lower one they have; "" lifts the limit.
// Not while kernels run.
Status limit_cpu_isa(std::string_view name);

}  // namespace tenon
