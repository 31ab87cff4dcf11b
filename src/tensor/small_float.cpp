#include "tensor/small_float.h"

namespace tenon {

namespace {

constexpr uint32_t low_mask(int bits) { return (1u << bits) - 1; }

struct Layout {
  int sign_shift;
  uint32_t exponent_max;  // the all-ones exponent field
  uint32_t largest;       // pattern of the largest finite value, without sign
  uint32_t nan;           // a quiet NaN pattern, without sign
};

constexpr Layout layout_of(SmallFloatFormat f) {
  Layout l{};
  l.sign_shift = f.exponent_bits + f.mantissa_bits;
  l.exponent_max = low_mask(f.exponent_bits);
  uint32_t all_ones = low_mask(l.sign_shift);
  if (f.has_infinity) {
    l.largest = (l.exponent_max << f.mantissa_bits) - 1;
    l.nan = (l.exponent_max << f.mantissa_bits) | (1u << (f.mantissa_bits - 1));
  } else if (f.has_nan && !f.nan_is_negative_zero) {
    l.largest = all_ones - 1;
    l.nan = all_ones;
  } else {
    l.largest = all_ones;
    l.nan = f.nan_is_negative_zero ? 1u << l.sign_shift : all_ones;
  }
  return l;
}

}  // namespace

double decode_small_float(SmallFloatFormat f, uint32_t bits) {
  const Layout l = layout_of(f);
  const bool negative = (bits >> l.sign_shift) & 1;
  const uint32_t magnitude = bits & low_mask(l.sign_shift);
  const uint32_t exponent = magnitude >> f.mantissa_bits;
  const uint32_t mantissa = magnitude & low_mask(f.mantissa_bits);
  if (f.nan_is_negative_zero && bits == l.nan) return std::numeric_limits<double>::quiet_NaN();
  if (f.has_infinity && exponent == l.exponent_max) {
    if (mantissa) return std::numeric_limits<double>::quiet_NaN();
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  if (f.has_nan && !f.has_infinity && !f.nan_is_negative_zero && magnitude == l.nan)
    return std::numeric_limits<double>::quiet_NaN();
  const double value = exponent == 0 ? std::ldexp(static_cast<double>(mantissa), 1 - f.bias - f.mantissa_bits)
                                     : std::ldexp(static_cast<double>(mantissa | (1u << f.mantissa_bits)),
                                                  static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

uint32_t encode_small_float(SmallFloatFormat f, double value, Overflow overflow) {
  const Layout l = layout_of(f);
  const uint32_t sign = std::signbit(value) ? 1u << l.sign_shift : 0;
  if (std::isnan(value)) {
    if (!f.has_nan) return 1u << l.sign_shift;  // such floats have no NaN; ONNX makes it minus zero
    return f.nan_is_negative_zero ? l.nan : sign | l.nan;
  }
  const double magnitude = std::fabs(value);

  // Too large: infinity, NaN or the largest value, whichever the format and the caller want.
  auto too_large = [&]() -> uint32_t {
    if (overflow == Overflow::Saturate || !f.has_nan) return sign | l.largest;
    if (f.has_infinity) return sign | (l.exponent_max << f.mantissa_bits);
    return f.nan_is_negative_zero ? l.nan : sign | l.nan;
  };
  if (std::isinf(value)) return too_large();
  if (magnitude == 0) return f.nan_is_negative_zero ? 0 : sign;

  // Scale so that one unit in the last place of the target is 1, then round to an integer once.
  int exponent;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
  int unit = exponent - 1 - f.mantissa_bits;
  const int smallest_unit = 1 - f.bias - f.mantissa_bits;
  if (unit < smallest_unit) unit = smallest_unit;
  const double scaled = std::ldexp(magnitude, -unit);  // exact: only the exponent changes
  auto rounded = static_cast<uint64_t>(scaled);
  const double rest = scaled - static_cast<double>(rounded);
  if (rest > 0.5 || (rest == 0.5 && (rounded & 1))) ++rounded;

  // A carry out of the mantissa moves into the exponent field by plain addition.
  const int64_t biased = unit - smallest_unit;  // 0 for subnormals and the first normal binade
  const uint64_t hidden = 1ull << f.mantissa_bits;
  uint64_t pattern = rounded >= hidden ? (static_cast<uint64_t>(biased) << f.mantissa_bits) + rounded : rounded;
  if (pattern > l.largest) return too_large();
  if (pattern == 0 && f.nan_is_negative_zero) return 0;
  return sign | static_cast<uint32_t>(pattern);
}

Float8E8M0::Float8E8M0(double value, bool saturate, ScaleRounding rounding) {
  if (std::isnan(value) || (std::isinf(value) && !saturate)) {
    bits = 255;
    return;
  }
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) {
    bits = 254;
    return;
  }
  if (magnitude == 0) {
    bits = 0;
    return;
  }
  int exponent;
  const double m = std::frexp(magnitude, &exponent) * 2;  // in [1, 2)
  int e = exponent - 1 + 127;
  if (rounding == ScaleRounding::Up && m > 1) ++e;
  if (rounding == ScaleRounding::Nearest && m >= 1.5) ++e;
  if (e > 254) {
    bits = saturate ? 254 : 255;
    return;
  }
  bits = static_cast<uint8_t>(e < 0 ? 0 : e);
}

}  // namespace tenon
