#pragma once

#include <cstddef>

namespace tenon {

// No tensor has more dimensions. As many as numpy has; models that grow them without end meet it soon.
inline constexpr size_t kMaxRank = 64;

}  // namespace tenon
