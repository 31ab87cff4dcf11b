#pragma once

#include "base/thread_pool.h"
#include "providers/provider.h"

namespace tenon {

// What this machine does at most, measured: the ceilings that kernels are compared with.
struct MachineSpeed {
  double flops = 0;  // per second, of fused multiply-adds on float32, two each
  double bytes = 0;  // per second, read and written by a copy that no cache can hold
};

// With the workers of the pool, or on the caller's thread alone when it is null. Takes about a tenth of a second.
Result<MachineSpeed> measure_machine_speed(ThreadPool* pool, Isa isa);

}  // namespace tenon
