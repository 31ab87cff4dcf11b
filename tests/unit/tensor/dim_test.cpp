#include "tensor/dim.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

const Dim n = Dim::symbol("n"), m = Dim::symbol("m");

TEST(Dim, EqualExpressionsCompareEqual) {
  EXPECT_EQ(n + m, m + n);
  EXPECT_EQ(Dim(2) * (n + Dim(1)), n + n + Dim(2));
  EXPECT_EQ((n + m) * (n - m), n * n - m * m);
  EXPECT_FALSE(n == m);
  EXPECT_FALSE(n == Dim(1));
}

TEST(Dim, SumsThatCancelAreIntegers) {
  EXPECT_TRUE((n - n + Dim(3)).equals(3));
  EXPECT_TRUE((n * Dim(0)).equals(0));
}

TEST(Dim, DivisionTakesOutWhatDivides) {
  EXPECT_EQ(floor_div(Dim(6) * n, Dim(3)), Dim(2) * n);
  EXPECT_EQ(floor_div(n * m, n), m);
  EXPECT_EQ(floor_div(Dim(4) * n + Dim(1), Dim(2)), Dim(2) * n);
  EXPECT_EQ(floor_div(n, n), Dim(1));
  EXPECT_EQ(floor_div(n, Dim(2)).to_string(), "floor(n, 2)");
}

TEST(Dim, DivisionRoundsTowardsMinusInfinity) {
  EXPECT_TRUE(floor_div(Dim(-7), Dim(2)).equals(-4));
  EXPECT_TRUE(ceil_div(Dim(7), Dim(2)).equals(4));
  EXPECT_TRUE(floor_mod(Dim(-7), Dim(3)).equals(2));
}

TEST(Dim, OverflowAndDivisionByZeroAreInvalid) {
  const Dim big(std::numeric_limits<int64_t>::max());
  EXPECT_TRUE((big + Dim(1)).is_invalid());
  EXPECT_TRUE((big * Dim(2)).is_invalid());
  EXPECT_TRUE((big * n * Dim(2)).is_invalid());
  EXPECT_TRUE(floor_div(n, Dim(0)).is_invalid());
  EXPECT_TRUE((Dim::invalid() + n).is_invalid());
}

TEST(Dim, SubstitutionGivesTheValue) {
  const Dim d = ceil_div(n + Dim(1), Dim(2)) * m + max(n, m);
  const Dim value =
      d.substitute([](const std::string& name) -> std::optional<Dim> { return name == "n" ? Dim(4) : Dim(10); });
  EXPECT_TRUE(value.equals(3 * 10 + 10));
}

TEST(Dim, UnknownSymbolsStay) {
  const Dim value = (n * m).substitute(
      [](const std::string& name) -> std::optional<Dim> { return name == "n" ? std::optional(Dim(2)) : std::nullopt; });
  EXPECT_EQ(value, Dim(2) * m);
}

class DimText : public testing::TestWithParam<const char*> {};

TEST_P(DimText, ReadsBackWhatItPrints) {
  auto parsed = Dim::parse(GetParam());
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  EXPECT_EQ(parsed->to_string(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Forms, DimText,
                         testing::Values("0", "batch", "2*n + 1", "-n + 3", "floor(n, 2)", "ceil(n, m)", "mod(n, 7)",
                                         "min(m, n)", "max(m, n)", "'batch size'", "n*n", "2*floor(n + 1, 2) - 1"));

TEST(Dim, BadTextIsRefused) {
  for (const char* text : {"", "+", "2*", "floor(n)", "n n", "'open", "unknown(n, 2)", "99999999999999999999"})
    EXPECT_FALSE(Dim::parse(text).ok()) << text;
}

TEST(Dim, ParsingIsBounded) {
  EXPECT_FALSE(Dim::parse(std::string(100000, '-') + "1").ok());
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += "floor(";
  EXPECT_FALSE(Dim::parse(nested).ok());
}

TEST(Shape, ZeroMakesTheCountZero) { EXPECT_TRUE(element_count({n, Dim(0), m}).equals(0)); }

TEST(Dim, LongExpressionsBecomeSymbols) {
  Dim product = n + m, nested = n;
  for (int i = 0; i < 100; ++i) {
    product = product * (product + Dim(1));
    nested = max(floor_div(nested + Dim(1), Dim(2)), nested * m);
  }
  EXPECT_LT(product.to_string().size(), 5000u);
  EXPECT_LT(nested.to_string().size(), 5000u);
}

TEST(Dim, EqualLongExpressionsStayEqual) {
  const auto grow = [](Dim d) {
    for (int i = 0; i < 12; ++i) d = d * (d + Dim(3));
    return d;
  };
  EXPECT_EQ(grow(n + m), grow(m + n));
  EXPECT_FALSE(grow(n) == grow(m));
}

}  // namespace
}  // namespace tenon
