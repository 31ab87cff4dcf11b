#pragma once

#include <span>
#include <string_view>

#include "base/hash.h"
#include "plan/plan.h"

namespace tenon {

// The key of a plan with its weight program: of program_to_bytes(), so without the debug map.
Hash128 plan_key(std::string_view program_bytes);
Hash128 plan_key(const Program& program);

// The key of a packed tensor: of its expression, its layout, and the dtype, dims and content of each source. Names of
// sources do not matter. `contents` has the content hash of every source of the program, in order.
Hash128 packed_key(const Program& program, const WeightEntry& entry, std::span<const Hash128> contents);

}  // namespace tenon
