// The cpu provider: fast kernels for the ops that the compiler's cpu target makes.
#include "providers/cpu/kernel.h"

namespace tenon {

Kernel find_cpu_kernel(std::string_view op_name) {
  if (op_name == "PackPanels") return {.function = run_cpu_pack_panels, .watches_inputs = true, .exact = true};
  if (op_name == "PackedMatMul") return {run_cpu_packed_matmul};
  if (op_name == "PackedConv") return {run_cpu_packed_conv};
  return {};
}

}  // namespace tenon
