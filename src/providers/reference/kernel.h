#pragma once

#include "providers/provider.h"

namespace tenon {

// Each op's kernel file specialises this for its id. Kernels see sub-byte elements one per byte (Int4, UInt2, ...),
// both coming in and going out; packing is done around them.
template <OpId>
KernelFunction reference_kernel();

// By canonical op name; null when there is no such op.
KernelFunction find_reference_kernel(std::string_view op_name);

}  // namespace tenon
