#pragma once

#include "providers/provider.h"

namespace tenon {

// By canonical op name; null when this provider has no kernel for the op.
Kernel find_cpu_kernel(std::string_view op_name);

// Each in its own file.
Status run_cpu_pack_panels(KernelContext& c);
Status run_cpu_packed_matmul(KernelContext& c);
Status run_cpu_packed_conv(KernelContext& c);

}  // namespace tenon
