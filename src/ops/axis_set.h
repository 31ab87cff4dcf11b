#pragma once

#include <span>
#include <vector>

#include "base/status.h"

namespace tenon {

// Axes of which it only counts whether they are named: from the front, sorted, each once. An error names the axis that
// the rank does not have.
Result<std::vector<int64_t>> axis_set(std::span<const int64_t> axes, int64_t rank);

}  // namespace tenon
