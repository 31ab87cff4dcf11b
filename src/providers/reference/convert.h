#pragma once

#include "providers/reference/elements.h"

// Numbers to element types, as Cast does it.
namespace tenon {

namespace conversion {

// What processors give for a number that has no integer of the wanted width; numpy and onnxruntime show it.
template <class Int>
Int truncate_or_lowest(double x) {
  constexpr double limit = -static_cast<double>(std::numeric_limits<Int>::min());
  return x >= -limit && x < limit ? static_cast<Int>(x) : std::numeric_limits<Int>::min();
}

}  // namespace conversion

// Integers truncate; those narrower than 32 bits keep the low bits of an int32, uint32 those of an int64.
// Out of range (NaN too): the lowest int32 or int64, and its low bits for narrower types.
template <class T>
T from_double(double x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != 0;
  } else if constexpr (is_float_element<T>) {
    return T(x);
  } else if constexpr (is_small_int<T>) {
    return T(static_cast<int64_t>(conversion::truncate_or_lowest<int32_t>(x)));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    constexpr double half = 9223372036854775808.0;
    if (x >= half)
      return static_cast<uint64_t>(conversion::truncate_or_lowest<int64_t>(x - half)) ^ (uint64_t{1} << 63);
    return static_cast<uint64_t>(conversion::truncate_or_lowest<int64_t>(x));
  } else if constexpr (sizeof(T) == 8 || std::is_same_v<T, uint32_t>) {
    return static_cast<T>(conversion::truncate_or_lowest<int64_t>(x));
  } else {
    return static_cast<T>(conversion::truncate_or_lowest<int32_t>(x));
  }
}

// The nearest number of the type's range; NaN becomes the lowest. The type's limits must be exact in double.
template <class T>
T saturate_to(double rounded) {
  double low, high;
  if constexpr (is_small_int<T>) {
    low = T::kMin;
    high = T::kMax;
  } else {
    low = std::numeric_limits<T>::lowest();
    high = std::numeric_limits<T>::max();
  }
  if (!(rounded > low)) return from_double<T>(low);
  return from_double<T>(rounded < high ? rounded : high);
}

}  // namespace tenon
