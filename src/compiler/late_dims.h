#pragma once

#include "plan/plan.h"

namespace tenon {

// The symbols of a plan's inputs that its steps can read in every run, so that runs of many lengths share a binding:
// every kernel that meets one must read dims anew each time, and no shape may depend on data.
std::vector<LateDim> find_late_dims(const Plan& plan);

}  // namespace tenon
