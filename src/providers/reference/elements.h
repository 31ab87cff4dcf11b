#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "base/status.h"
#include "tensor/tensor.h"

// How reference kernels compute: floats of every width in double, rounded once at the end; integers in their own type
// with two's-complement wrap-around.
namespace tenon {

template <class T>
inline constexpr bool is_float_element =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ||
    std::is_same_v<T, Float8E4M3FN> || std::is_same_v<T, Float8E4M3FNUZ> || std::is_same_v<T, Float8E5M2> ||
    std::is_same_v<T, Float8E5M2FNUZ> || std::is_same_v<T, Float8E8M0> || std::is_same_v<T, Float4E2M1> ||
    std::is_same_v<T, Float6E2M3> || std::is_same_v<T, Float6E3M2>;

template <class T>
inline constexpr bool is_small_int =
    std::is_same_v<T, Int4> || std::is_same_v<T, UInt4> || std::is_same_v<T, Int2> || std::is_same_v<T, UInt2>;

// The type to compute with: double for floats, int64 for sub-byte integers, the type itself for the rest.
template <class T>
using Wide = std::conditional_t<is_float_element<T>, double, std::conditional_t<is_small_int<T>, int64_t, T>>;

template <class T>
Wide<T> widen(T x) {
  return static_cast<Wide<T>>(x);
}
template <class T>
T narrow(Wide<T> x) {
  return static_cast<T>(x);
}

// Calls f(TypeTag<T>{}) for a dtype in the list Ts; anything else is an error that names the op's limits.
template <class... Ts, class F>
Status dispatch(DType dtype, F&& f) {
  Status status;
  if (((dtype == dtype_of<Ts> && (status = f(TypeTag<Ts>{}), true)) || ...)) return status;
  return unsupported("element type {} is not supported here", dtype_name(dtype));
}
template <class F>
Status dispatch_floats(DType dtype, F&& f) {
  return dispatch<float, double, Float16, BFloat16>(dtype, f);
}
template <class F>
Status dispatch_integers(DType dtype, F&& f) {
  return dispatch<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(dtype, f);
}
template <class F>
Status dispatch_numbers(DType dtype, F&& f) {
  return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                  uint64_t>(dtype, f);
}
// Moving elements needs their size only: f gets uint8_t, uint16_t, uint32_t, uint64_t, complex<double> or string.
template <class F>
Status dispatch_by_size(DType dtype, F&& f) {
  if (dtype == DType::String) return f(TypeTag<std::string>{});
  switch (dtype_bits(dtype)) {
    case 16:
      return f(TypeTag<uint16_t>{});
    case 32:
      return f(TypeTag<uint32_t>{});
    case 64:
      return f(TypeTag<uint64_t>{});
    case 128:
      return f(TypeTag<std::complex<double>>{});
    default:  // bytes, and sub-byte elements that come one per byte
      return f(TypeTag<uint8_t>{});
  }
}

// The elements of a view as T, whatever its dtype says; for moving by size.
template <class T>
std::span<T> raw(const TensorView& v) {
  return {static_cast<T*>(v.data), static_cast<size_t>(v.size())};
}

}  // namespace tenon
