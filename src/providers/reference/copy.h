#pragma once

#include <cstring>

#include "providers/reference/kernel.h"

namespace tenon {

// Copies all elements as reference kernels see them: sub-byte ones one per byte.
inline void copy_all(const TensorView& from, const TensorView& to) {
  if (!is_sub_byte(from.dtype))
    copy_elements(from, to);
  else if (from.size() > 0)
    std::memcpy(to.data, from.data, static_cast<size_t>(from.size()));
}

}  // namespace tenon
