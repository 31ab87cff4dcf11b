#pragma once

#include "providers/provider.h"

namespace tenon {

// Null for any name but "external/External".
const KernelFamily* find_external_family(std::string_view name);

}  // namespace tenon
