#pragma once

#include <algorithm>
#include <cstdint>

namespace tenon {

// What a budget is charged for a block: at least what its alignment, its bookkeeping and its place in a list cost, so
// that many tiny or empty ones do not go unnoticed.
inline int64_t charge_for(int64_t bytes) {
  constexpr int64_t kSmallest = 256;
  return std::max(bytes, kSmallest);
}

}  // namespace tenon
