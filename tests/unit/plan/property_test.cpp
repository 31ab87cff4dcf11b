#include "plan/property.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

using Kind = Property::Kind;

Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span(values));
}

TEST(Property, IsReadBackFromItsText) {
  for (const Property& p : {Property{Kind::Elements}, Property{Kind::Pinned}, Property{Kind::Literal},
                            Property{Kind::AllZero}, Property{Kind::AllEqual}, Property{Kind::AllPositive},
                            Property::equal_to(0.1), Property::equal_to(-2), Property::in_range(-1e-30, 6)})
    EXPECT_EQ(property_from_text(property_text(p)), p) << property_text(p);
  EXPECT_EQ(property_text(Property::equal_to(1)), "equal to 1");
  EXPECT_EQ(property_text(Property::in_range(0, 6)), "in range 0 6");
}

TEST(Property, RefusesOtherTexts) {
  for (const char* text : {"", "element", "elements ", "equal to", "equal to x", "equal to 1 2", "in range 1", "all"})
    EXPECT_FALSE(property_from_text(text)) << text;
}

TEST(Property, IsAnsweredByYesOrNo) {
  EXPECT_EQ(ask(floats({0, -0.0f}), {Kind::AllZero}), Answer::Yes);
  EXPECT_EQ(ask(floats({0, 1}), {Kind::AllZero}), Answer::No);
  EXPECT_EQ(ask(floats({2, 2}), {Kind::AllEqual}), Answer::Yes);
  EXPECT_EQ(ask(floats({2, 3}), {Kind::AllEqual}), Answer::No);
  EXPECT_EQ(ask(floats({2, 3}), {Kind::AllPositive}), Answer::Yes);
  EXPECT_EQ(ask(floats({2, 0}), {Kind::AllPositive}), Answer::No);
  EXPECT_EQ(ask(floats({1, 1}), Property::equal_to(1)), Answer::Yes);
  EXPECT_EQ(ask(floats({1, 2}), Property::equal_to(1)), Answer::No);
  EXPECT_EQ(ask(floats({0, 6}), Property::in_range(0, 6)), Answer::Yes);
  EXPECT_EQ(ask(floats({0, 7}), Property::in_range(0, 6)), Answer::No);
}

TEST(Property, ANaNHasNone) {
  const Tensor nan = floats({std::numeric_limits<float>::quiet_NaN()});
  for (const Property& p : {Property{Kind::AllZero}, Property{Kind::AllEqual}, Property{Kind::AllPositive},
                            Property::equal_to(1), Property::in_range(-1e300, 1e300)})
    EXPECT_EQ(ask(nan, p), Answer::No) << property_text(p);
}

TEST(Property, OfIntegersAndPackedElements) {
  EXPECT_EQ(ask(Tensor::of_ints(std::vector<int64_t>{3, 3}), Property::equal_to(3)), Answer::Yes);
  const uint8_t nibbles[] = {0x21};
  EXPECT_EQ(ask(Tensor::borrow(DType::UInt4, {2}, nibbles, nullptr), Property::in_range(1, 2)), Answer::Yes);
}

TEST(Property, ElementsAndStringsHaveNoSuchAnswer) {
  EXPECT_EQ(ask(floats({1}), {Kind::Elements}), Answer::Unknown);
  const std::string text = "a";
  EXPECT_EQ(ask(Tensor::of<std::string>({1}, std::span(&text, 1)), {Kind::AllZero}), Answer::Unknown);
}

}  // namespace
}  // namespace tenon
