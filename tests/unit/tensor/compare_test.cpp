#include "tensor/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

template <class T>
Value of(std::vector<T> values) {
  return Value(Tensor::of<T>({static_cast<int64_t>(values.size())}, std::span<const T>(values)));
}

TEST(Compare, IntegersAreExactBeyondDoubles) {
  const int64_t big = (int64_t{1} << 53) + 1;
  EXPECT_EQ(compare_values(of<int64_t>({big}), of<int64_t>({big - 1}), {}).mismatches, 1);
  EXPECT_EQ(compare_values(of<int64_t>({big}), of<int64_t>({big}), {}).mismatches, 0);
  EXPECT_EQ(compare_values(of<int64_t>({5}), of<int64_t>({6}), {0, 1}).mismatches, 0);
}

TEST(Compare, FloatsAgreeWithinRounding) {
  EXPECT_TRUE(compare_values(of<float>({1, -2}), of<float>({1.00001f, -2}), {}).same());
  EXPECT_FALSE(compare_values(of<float>({1, -2}), of<float>({1.001f, -2}), {}).same());
  EXPECT_FALSE(compare_values(of<double>({1}), of<double>({1.00001}), {}).same());
  EXPECT_TRUE(compare_values(of<float>({1e30f}), of<float>({1.00001e30f}), {}).same());
}

TEST(Compare, SpecialNumbers) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_TRUE(compare_values(of<float>({inf, nan}), of<float>({inf, nan}), {}).same());
  EXPECT_EQ(compare_values(of<float>({inf}), of<float>({-inf}), {}).mismatches, 1);
  EXPECT_EQ(compare_values(of<float>({1}), of<float>({nan}), {10, 10}).mismatches, 1);
  EXPECT_EQ(compare_values(of<float>({1}), of<float>({inf}), {10, 10}).max_abs, inf);
}

TEST(Compare, CosineOfDirections) {
  EXPECT_DOUBLE_EQ(compare_values(of<float>({1, 0}), of<float>({0, 1}), {}).cosine, 0);
  EXPECT_DOUBLE_EQ(compare_values(of<float>({1, 2}), of<float>({-1, -2}), {}).cosine, -1);
  EXPECT_DOUBLE_EQ(compare_values(of<float>({0, 0}), of<float>({0, 0}), {}).cosine, 1);
  EXPECT_DOUBLE_EQ(compare_values(of<float>({0, 0}), of<float>({1, 0}), {}).cosine, 0);
}

TEST(Compare, RelativeDifferenceLeavesZerosOut) {
  const Comparison c = compare_values(of<float>({0.5f, 3}), of<float>({0, 2}), {});
  EXPECT_DOUBLE_EQ(c.max_abs, 1);
  EXPECT_DOUBLE_EQ(c.max_rel, 0.5);
}

TEST(Compare, StringsSubBytesAndComplex) {
  EXPECT_EQ(compare_values(of<std::string>({"a", "b"}), of<std::string>({"a", "c"}), {}).first_mismatch, 1);
  auto packed = [](std::vector<int8_t> values) {
    auto tensor = Tensor::allocate(DType::Int4, {static_cast<int64_t>(values.size())}, nullptr);
    pack_sub_byte(DType::Int4, values.data(), tensor->size(), tensor->mutable_data());
    return Value(*tensor);
  };
  EXPECT_EQ(compare_values(packed({-8, 7, 1}), packed({-8, 6, 1}), {}).max_abs, 1);
  using Complex = std::complex<float>;
  EXPECT_EQ(compare_values(of<Complex>({{1, 2}}), of<Complex>({{1, 3}}), {}).mismatches, 1);
}

TEST(Compare, StructureMustMatch) {
  const Type type = Type::tensor(DType::Float32);
  const Value one(Sequence{type, {of<float>({1})}}), two(Sequence{type, {of<float>({1}), of<float>({2})}});
  EXPECT_FALSE(compare_values(one, two, {}).comparable);
  EXPECT_TRUE(compare_values(two, two, {}).same());
  EXPECT_EQ(compare_values(two, two, {}).elements, 2);
  EXPECT_FALSE(compare_values(one, of<float>({1}), {}).comparable);
  const Value empty(Optional{type, nullptr}), full(Optional{type, std::make_shared<const Value>(of<float>({1}))});
  EXPECT_TRUE(compare_values(empty, empty, {}).same());
  EXPECT_FALSE(compare_values(empty, full, {}).comparable);
  Map a, b;
  a.int_keys = {1};
  b.int_keys = {2};
  a.values = b.values = *of<float>({1}).tensor();
  EXPECT_FALSE(compare_values(Value(a), Value(b), {}).comparable);
  EXPECT_TRUE(compare_values(Value(a), Value(a), {}).same());
}

}  // namespace
}  // namespace tenon
