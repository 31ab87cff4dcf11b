#pragma once

#include "plan/plan.h"

namespace tenon {

// Decides which values of a plan lie in blocks of channels, so that all steps together cost least, and adds the steps
// that bring values from one layout to the other. Costs follow from shapes and parameters alone, never from the
// machine.
void assign_layouts(Plan& plan);

}  // namespace tenon
