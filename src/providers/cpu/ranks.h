#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "providers/provider.h"

namespace tenon {

// A float as an integer that is greater where the float comes first: the largest first, or the smallest. Both zeros are
// equal, and NaN comes before all.
inline int32_t float_rank(float x, bool largest) {
  auto bits = std::bit_cast<uint32_t>(x);
  if (bits << 1 == 0) bits = 0;
  // Negative numbers are in the opposite order of their bits.
  const auto order = static_cast<int32_t>(bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) >> 1));
  if ((bits & 0x7fffffff) > 0x7f800000) return std::numeric_limits<int32_t>::max();
  return largest ? order : ~order;
}

inline constexpr int64_t kRankedBlock = 64;  // elements at a time, at most

// The ranks of neighbours, and the best of them.
using RankFloatsFunction = int32_t (*)(const float* x, int64_t count, bool largest, int32_t* ranks);
RankFloatsFunction rank_floats_function(Isa isa);

}  // namespace tenon
