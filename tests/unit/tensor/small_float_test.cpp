#include "tensor/small_float.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

struct FormatCase {
  const char* name;
  SmallFloatFormat format;
  int bits;
  double largest;
  double smallest;
};

class Format : public testing::TestWithParam<FormatCase> {};

TEST_P(Format, EveryPatternSurvivesDecodingAndEncoding) {
  const auto& c = GetParam();
  for (uint32_t pattern = 0; pattern < 1u << c.bits; ++pattern) {
    const double value = decode_small_float(c.format, pattern);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(decode_small_float(c.format, encode_small_float(c.format, value, Overflow::Special))));
    } else {
      EXPECT_EQ(encode_small_float(c.format, value, Overflow::Special), pattern) << value;
    }
  }
}

TEST_P(Format, RoundsToTheNearestAndTiesToEven) {
  const auto& c = GetParam();
  const uint32_t last = encode_small_float(c.format, c.largest, Overflow::Saturate);
  for (uint32_t pattern = 0; pattern < last; ++pattern) {
    const double low = decode_small_float(c.format, pattern), high = decode_small_float(c.format, pattern + 1);
    const double middle = (low + high) / 2;
    EXPECT_EQ(encode_small_float(c.format, middle, Overflow::Saturate), pattern + (pattern & 1)) << middle;
    EXPECT_EQ(encode_small_float(c.format, std::nextafter(middle, low), Overflow::Saturate), pattern);
    EXPECT_EQ(encode_small_float(c.format, std::nextafter(middle, high), Overflow::Saturate), pattern + 1);
  }
}

TEST_P(Format, KnowsItsRange) {
  const auto& c = GetParam();
  auto round = [&](double x, Overflow o) { return decode_small_float(c.format, encode_small_float(c.format, x, o)); };
  EXPECT_EQ(round(c.largest, Overflow::Special), c.largest);
  EXPECT_EQ(round(c.largest * 4, Overflow::Saturate), c.largest);
  EXPECT_EQ(round(-kInfinity, Overflow::Saturate), -c.largest);
  EXPECT_EQ(round(c.smallest, Overflow::Special), c.smallest);
  EXPECT_EQ(round(c.smallest / 4, Overflow::Special), 0);
  const double beyond = round(kInfinity, Overflow::Special);
  if (c.format.has_infinity) {
    EXPECT_EQ(beyond, kInfinity);
  } else if (c.format.has_nan) {
    EXPECT_TRUE(std::isnan(beyond));
  } else {
    EXPECT_EQ(beyond, c.largest);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Format,
                         testing::Values(FormatCase{"float16", kFloat16Format, 16, 65504, std::ldexp(1, -24)},
                                         FormatCase{"bfloat16", kBFloat16Format, 16, 3.3895313892515355e38,
                                                    std::ldexp(1, -133)},
                                         FormatCase{"e4m3fn", kFloat8E4M3FNFormat, 8, 448, std::ldexp(1, -9)},
                                         FormatCase{"e4m3fnuz", kFloat8E4M3FNUZFormat, 8, 240, std::ldexp(1, -10)},
                                         FormatCase{"e5m2", kFloat8E5M2Format, 8, 57344, std::ldexp(1, -16)},
                                         FormatCase{"e5m2fnuz", kFloat8E5M2FNUZFormat, 8, 57344, std::ldexp(1, -17)},
                                         FormatCase{"e2m1", kFloat4E2M1Format, 4, 6, 0.5},
                                         FormatCase{"e2m3", kFloat6E2M3Format, 6, 7.5, 0.125},
                                         FormatCase{"e3m2", kFloat6E3M2Format, 6, 28, 0.0625}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Float4E2M1, HasNoNan) { EXPECT_EQ(encode_small_float(kFloat4E2M1Format, kNan, Overflow::Saturate), 8u); }

TEST(Float8E8M0, RoundsInThreeWays) {
  EXPECT_EQ(static_cast<double>(Float8E8M0(3.0, true, ScaleRounding::Up)), 4);
  EXPECT_EQ(static_cast<double>(Float8E8M0(3.9, true, ScaleRounding::Down)), 2);
  EXPECT_EQ(static_cast<double>(Float8E8M0(2.9, true, ScaleRounding::Nearest)), 2);
  EXPECT_EQ(static_cast<double>(Float8E8M0(4.0, true, ScaleRounding::Up)), 4);
  EXPECT_TRUE(std::isnan(static_cast<double>(Float8E8M0(kNan))));
  EXPECT_EQ(Float8E8M0(kInfinity, true).bits, 254);
  EXPECT_EQ(Float8E8M0(kInfinity, false).bits, 255);
}

TEST(SmallInt, KeepsTheLowBits) {
  EXPECT_EQ(static_cast<int64_t>(Int4(9)), -7);
  EXPECT_EQ(static_cast<int64_t>(UInt4(17)), 1);
  EXPECT_EQ(static_cast<int64_t>(Int2(-3)), 1);
  EXPECT_EQ(static_cast<int64_t>(UInt2(-1)), 3);
}

}  // namespace
}  // namespace tenon
