#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tenon {

// Integer arithmetic that says so when the result does not fit.
inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
inline std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
  return r;
}
inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

// The number of elements of a shape; nothing when a dim is negative or the product overflows. Also without its zeros
// the product must fit, so that strides of an empty tensor do not overflow.
inline std::optional<int64_t> checked_product(std::span<const int64_t> dims) {
  bool zero = false;
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    zero |= d == 0;
    if (d != 0 && __builtin_mul_overflow(n, d, &n)) return std::nullopt;
  }
  return zero ? 0 : n;
}

// The quotient's only overflow, INT64_MIN / -1, wraps around as negation does.
constexpr int64_t wrapping_negate(int64_t a) { return static_cast<int64_t>(-static_cast<uint64_t>(a)); }
constexpr int64_t wrapping_div(int64_t a, int64_t b) { return b == -1 ? wrapping_negate(a) : a / b; }
constexpr int64_t wrapping_rem(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

// Division that rounds towards minus infinity; b != 0.
constexpr int64_t floor_div(int64_t a, int64_t b) {
  return wrapping_div(a, b) - (wrapping_rem(a, b) != 0 && (a < 0) != (b < 0));
}
constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return wrapping_div(a, b) + (wrapping_rem(a, b) != 0 && (a < 0) == (b < 0));
}
constexpr int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t rest = wrapping_rem(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace tenon
