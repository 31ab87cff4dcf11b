#pragma once

#include "providers/scratch.h"

// Integer inputs as kernels read them: axes, sizes, indices.
namespace tenon {

// Element i of an int32 or int64 tensor.
inline int64_t integer_at(const TensorView& v, int64_t i) {
  return v.dtype == DType::Int32 ? static_cast<const int32_t*>(v.data)[i] : static_cast<const int64_t*>(v.data)[i];
}

inline Scratch<int64_t> integers_of(const TensorView& v) {
  Scratch<int64_t> result;
  const int64_t count = v.size();
  for (int64_t i = 0; i < count; ++i) result.push_back(integer_at(v, i));
  return result;
}

// An index in [-extent, extent) as one in [0, extent).
inline Result<int64_t> checked_index(int64_t index, int64_t extent, int64_t position) {
  if (index < -extent || index >= extent)
    return invalid_argument("index {} at position {} is outside an axis of {}", index, position, extent);
  return index < 0 ? index + extent : index;
}

}  // namespace tenon
