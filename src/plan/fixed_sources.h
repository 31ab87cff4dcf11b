#pragma once

#include <vector>

#include "plan/plan.h"

namespace tenon {

// Sources that no swap may change, by source: literals, which are part of the plan, and what was decided by.
std::vector<bool> fixed_sources(const Program& program);

}  // namespace tenon
