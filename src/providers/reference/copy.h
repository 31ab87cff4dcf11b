#pragma once

#include <cstring>

#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

// Copies all elements as reference kernels see them: sub-byte ones one per byte.
inline void copy_all(const TensorView& from, const TensorView& to) {
  if (from.size() == 0 || from.data == to.data) return;
  if (from.dtype == DType::String) {
    const auto source = from.as<std::string>(), target = to.as<std::string>();
    WorkMeter meter;
    for (size_t i = 0; i < source.size(); ++i) {
      meter.spend(static_cast<int64_t>(source[i].size()) + 1);
      target[i] = source[i];
    }
    return;
  }
  const int64_t bytes = is_sub_byte(from.dtype) ? from.size() : from.bytes();
  in_pieces(bytes, [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<std::byte*>(to.data) + begin, static_cast<const std::byte*>(from.data) + begin,
                static_cast<size_t>(end - begin));
  });
}

}  // namespace tenon
