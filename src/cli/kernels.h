#pragma once

#include <string>

#include "cli/json.h"

namespace cli {

// Which kernels run which nodes, and why not better ones: an array of {kernel, variant, nodes, reasons}, in the order
// of the first step of each. `plan` has steps with their sub-plans, and claims that did not come about.
Json kernels_of(const Json& plan);
std::string kernels_text(const Json& kernels);

}  // namespace cli
