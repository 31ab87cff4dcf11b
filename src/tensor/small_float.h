#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tenon {

// What happens to a finite value (or infinity) that is larger than the largest finite one.
enum class Overflow { Saturate, Special };

// A binary floating-point format of at most 16 bits, described by its fields.
//   fn: no infinities, all-ones is NaN (or no NaN at all for 4- and 6-bit types)
//   uz: no negative zero, its pattern is NaN
struct SmallFloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;
  bool nan_is_negative_zero;
  bool has_nan;
};

inline constexpr SmallFloatFormat kFloat16Format{5, 10, 15, true, false, true};
inline constexpr SmallFloatFormat kBFloat16Format{8, 7, 127, true, false, true};
inline constexpr SmallFloatFormat kFloat8E4M3FNFormat{4, 3, 7, false, false, true};
inline constexpr SmallFloatFormat kFloat8E4M3FNUZFormat{4, 3, 8, false, true, true};
inline constexpr SmallFloatFormat kFloat8E5M2Format{5, 2, 15, true, false, true};
inline constexpr SmallFloatFormat kFloat8E5M2FNUZFormat{5, 2, 16, false, true, true};
inline constexpr SmallFloatFormat kFloat4E2M1Format{2, 1, 1, false, false, false};
inline constexpr SmallFloatFormat kFloat6E2M3Format{2, 3, 1, false, false, false};
inline constexpr SmallFloatFormat kFloat6E3M2Format{3, 2, 3, false, false, false};

// Decodes a bit pattern exactly.
double decode_small_float(SmallFloatFormat format, uint32_t bits);
// Rounds to nearest, ties to even, once.
uint32_t encode_small_float(SmallFloatFormat format, double value, Overflow overflow);

// Element types: one pattern each, explicit conversions only.
template <class Bits, SmallFloatFormat const& format>
struct SmallFloat {
  Bits bits = 0;

  SmallFloat() = default;
  explicit SmallFloat(double value, Overflow overflow = default_overflow())
      : bits(static_cast<Bits>(encode_small_float(format, value, overflow))) {}
  explicit operator double() const { return decode_small_float(format, bits); }
  explicit operator float() const { return static_cast<float>(decode_small_float(format, bits)); }
  static SmallFloat from_bits(uint32_t pattern) {
    SmallFloat f;
    f.bits = static_cast<Bits>(pattern);
    return f;
  }

 private:
  static constexpr Overflow default_overflow() { return sizeof(Bits) == 1 ? Overflow::Saturate : Overflow::Special; }
};

using Float16 = SmallFloat<uint16_t, kFloat16Format>;
using BFloat16 = SmallFloat<uint16_t, kBFloat16Format>;
using Float8E4M3FN = SmallFloat<uint8_t, kFloat8E4M3FNFormat>;
using Float8E4M3FNUZ = SmallFloat<uint8_t, kFloat8E4M3FNUZFormat>;
using Float8E5M2 = SmallFloat<uint8_t, kFloat8E5M2Format>;
using Float8E5M2FNUZ = SmallFloat<uint8_t, kFloat8E5M2FNUZFormat>;
using Float4E2M1 = SmallFloat<uint8_t, kFloat4E2M1Format>;
using Float6E2M3 = SmallFloat<uint8_t, kFloat6E2M3Format>;
using Float6E3M2 = SmallFloat<uint8_t, kFloat6E3M2Format>;

// How a value between two powers of two becomes a float8e8m0.
enum class ScaleRounding { Nearest, Up, Down };

// An exponent alone: 2^(bits - 127); 255 is NaN. No sign, no zero.
struct Float8E8M0 {
  uint8_t bits = 0;

  Float8E8M0() = default;
  explicit Float8E8M0(double value, bool saturate = true, ScaleRounding rounding = ScaleRounding::Up);
  explicit operator double() const {
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, int{bits} - 127);
  }
  explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }
  static Float8E8M0 from_bits(uint32_t pattern) {
    Float8E8M0 f;
    f.bits = static_cast<uint8_t>(pattern);
    return f;
  }
};

// Integers below a byte, one per byte while a kernel works on them.
template <int kBits, bool kSigned>
struct SmallInt {
  static constexpr int kMin = kSigned ? -(1 << (kBits - 1)) : 0;
  static constexpr int kMax = kSigned ? (1 << (kBits - 1)) - 1 : (1 << kBits) - 1;
  int8_t value = 0;

  SmallInt() = default;
  // Keeps the low bits, as a C cast does.
  explicit SmallInt(int64_t v) : value(wrap(v)) {}
  explicit operator int64_t() const { return value; }
  explicit operator double() const { return value; }
  explicit operator float() const { return value; }
  static constexpr int8_t wrap(int64_t v) {
    int low = static_cast<int>(v & ((1 << kBits) - 1));
    return static_cast<int8_t>(kSigned && low > kMax ? low - (1 << kBits) : low);
  }
};

using Int4 = SmallInt<4, true>;
using UInt4 = SmallInt<4, false>;
using Int2 = SmallInt<2, true>;
using UInt2 = SmallInt<2, false>;

}  // namespace tenon
