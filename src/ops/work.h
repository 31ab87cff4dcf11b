#pragma once

#include <span>

#include "ops/op.h"
#include "tensor/tensor.h"

namespace tenon {

// What a step has to do at least, whatever kernel does it: additions, multiplications and functions of single numbers,
// and the bytes that it reads and writes when every tensor passes once.
struct Work {
  double flops = -1;  // below 0: nobody can tell
  double bytes = 0;
};

// Absent inputs and outputs are undefined views.
Work work_of(OpId op, const Params& params, std::span<const TensorView> inputs, std::span<const TensorView> outputs);

}  // namespace tenon
