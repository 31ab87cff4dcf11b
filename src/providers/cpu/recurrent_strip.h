#pragma once

#include "providers/cpu/recurrent_plan.h"

namespace tenon {

// Runs a strip of a layer with strip_floats of `memory`, aligned to 64 bytes. Threads of `team` share its products;
// null: this thread runs alone.
void run_strip(KernelContext* team, const RecurrentPlan& plan, const RecurrentTensors& tensors,
               const RecurrentStrip& strip, float* memory);

}  // namespace tenon
