#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Which element of each column is the largest or smallest. NaN wins; of equals the first, or the last.
struct ColumnExtremes {
  const float* from = nullptr;
  int64_t extent = 0, stride = 0;  // elements of a column, and how far they are apart
  int64_t count = 0;               // columns, side by side
  bool largest = true, last = false;
  int64_t* to = nullptr;
};

using ColumnExtremesFunction = void (*)(const ColumnExtremes&);
ColumnExtremesFunction column_extremes_function(Isa isa);

}  // namespace tenon
