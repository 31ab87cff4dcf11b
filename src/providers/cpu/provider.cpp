// The cpu provider: fast kernels for the ops that the compiler's cpu target makes.
#include "providers/cpu/kernel.h"

namespace tenon {

const KernelFamily* find_cpu_family(std::string_view name) {
  static const KernelFamily families[] = {
      {.name = "cpu/PackPanels", .variants = pack_panels_variants(), .watches_inputs = true, .exact = true},
      {.name = "cpu/PackedMatMul", .variants = packed_matmul_variants()},
      {.name = "cpu/PackedConv", .variants = packed_conv_variants()},
      {.name = "cpu/Reorder", .variants = reorder_variants(), .takes_blocked = true},
  };
  for (const KernelFamily& family : families)
    if (family.name == name) return &family;
  return nullptr;
}

}  // namespace tenon
