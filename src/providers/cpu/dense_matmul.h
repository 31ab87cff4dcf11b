#pragma once

#include "providers/provider.h"

namespace tenon {

// MatMul of doubles.
Result<KernelState> bind_double_product(const BindRequest& request);
Status run_double_product(KernelContext& c);

}  // namespace tenon
