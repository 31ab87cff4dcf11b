#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Columns of sixteen channels to rows of their own: to[j * to_stride + k] = from[k * from_stride + j].
using ToRowsFunction = void (*)(const float* from, int64_t from_stride, int64_t count, float* to, int64_t to_stride);
ToRowsFunction to_rows_function(Isa isa);

}  // namespace tenon
