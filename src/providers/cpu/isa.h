#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// The targets of Highway that may be used under a limit: those of the instruction set and of lower ones.
int64_t targets_up_to(Isa isa);

}  // namespace tenon
