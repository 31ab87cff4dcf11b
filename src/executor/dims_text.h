#pragma once

#include <string>

#include "tensor/value.h"

namespace tenon {

// "[2, 3]", for messages.
inline std::string dims_text(Dims dims) { return shape_text(to_shape(dims)); }

}  // namespace tenon
