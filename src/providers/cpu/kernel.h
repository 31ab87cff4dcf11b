#pragma once

#include "providers/provider.h"

namespace tenon {

// Null when this provider has no such family.
const KernelFamily* find_cpu_family(std::string_view name);

// Each in its own file.
std::span<const Variant> pack_panels_variants();
std::span<const Variant> packed_matmul_variants();
std::span<const Variant> packed_conv_variants();
std::span<const Variant> reorder_variants();

}  // namespace tenon
