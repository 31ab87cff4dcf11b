#pragma once

#include "providers/provider.h"

namespace tenon {

// Each op's kernel file specialises this for its id. Kernels see sub-byte elements one per byte (Int4, UInt2, ...),
// both coming in and going out; packing is done around them.
template <OpId>
KernelFunction reference_kernel();

// "reference/Conv", or "control/If" for ops with sub-graphs; null when there is no such op.
const KernelFamily* find_reference_family(std::string_view name);

}  // namespace tenon
