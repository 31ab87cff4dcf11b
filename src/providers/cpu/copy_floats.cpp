#include <cmath>

#include "ops/packed.h"
#include "providers/cpu/pack.h"

namespace tenon {

bool copy_floats(const float* from, int64_t count, bool streaming, float* to) {
  // Whole rows of sixteen at once.
  const int64_t rows = count / kPanelWidth, rest = rows * kPanelWidth;
  bool found = pack_kernels(usable_isas().front()).copy(from, kPanelWidth, rows, 1, nullptr, streaming, to, 0);
  for (int64_t i = rest; i < count; ++i) {
    found |= !std::isfinite(from[i]);
    to[i] = from[i];
  }
  return found;
}

}  // namespace tenon
