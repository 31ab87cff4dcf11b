#include "trials/tolerance/tolerance.h"

#include "support/small_graph.h"

namespace tenon {
namespace {

using test::SmallGraph;
using test::tensor;

constexpr double kEps = 0x1p-23;

TEST(Tolerance, WhatIsOnlyMovedIsExact) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(2), Dim(2)});
  const ValueId y = g.node(OpId::Relu, {g.node(OpId::Transpose, {x})});
  EXPECT_EQ(tolerance_of(g.graph, y).share, 0);
  const auto judged =
      compare_within(tolerance_of(g.graph, y), tensor<float>({1}, {1 + 0x1p-23f}), tensor<float>({1}, {1}), nullptr);
  EXPECT_EQ(judged.comparison.mismatches, 1);
}

TEST(Tolerance, LongerSumsMayDifferMore) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(1), Dim(4)});
  const ValueId few = g.node(OpId::MatMul, {x, g.weight<float>("a", {4, 10000}, std::vector<float>(40000))});
  const ValueId many = g.node(OpId::MatMul, {few, g.weight<float>("b", {10000, 1}, std::vector<float>(10000))});
  EXPECT_DOUBLE_EQ(tolerance_of(g.graph, few).share, kEps * (1024 + 8 + 8 * 2));
  EXPECT_NEAR(tolerance_of(g.graph, many).share, kEps * (1024 + 16 + 800), kEps);
  // What another output depends on does not count.
  EXPECT_LT(tolerance_of(g.graph, few).share, tolerance_of(g.graph, many).share);
}

TEST(Tolerance, TheCoarsestTypeOnTheWayCounts) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float16, Shape{Dim(2)});
  const ValueId y = g.node(OpId::Exp, {x});
  EXPECT_DOUBLE_EQ(tolerance_of(g.graph, y).share, 0x1p-10 * 8.5);
}

TEST(Tolerance, AShareOfTheLargestNumber) {
  ValueTolerance tolerance;
  tolerance.share = 1e-3;
  const Value expected = tensor<float>({2}, {1000, 0.5f});
  EXPECT_EQ(compare_within(tolerance, tensor<float>({2}, {1000, 1.4f}), expected, nullptr).comparison.mismatches, 0);
  EXPECT_EQ(compare_within(tolerance, tensor<float>({2}, {1000, 1.6f}), expected, nullptr).comparison.mismatches, 1);
}

TEST(Tolerance, IntegersAreExactUnlessTheyAreSteps) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(2)});
  const ValueId q =
      g.node(OpId::QuantizeLinear, {x, g.weight<float>("s", {}, {0.1f}), g.weight<uint8_t>("z", {}, {0})});
  EXPECT_EQ(tolerance_of(g.graph, q).steps, 2);
  const ValueId size = g.node(OpId::Shape, {q});
  EXPECT_EQ(tolerance_of(g.graph, size).steps, 0);
}

TEST(Tolerance, IndicesMayDifferAtTiesOnly) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(2), Dim(3)});
  const ValueId scores = g.node(OpId::Exp, {x});
  const ValueId index = g.node(OpId::ArgMax, {scores});
  const ValueTolerance tolerance = tolerance_of(g.graph, index);
  ASSERT_TRUE(tolerance.choice);
  EXPECT_EQ(tolerance.choice->from, scores);
  // Along axis 0: the first column ties, the second does not.
  const Tensor from = Tensor::of<float>({2, 3}, std::vector<float>{1, 5, 2, 1 + 0x1p-22f, 1, 0});
  const Value expected = tensor<int64_t>({1, 3}, {1, 0, 0});
  const auto tie = compare_within(tolerance, tensor<int64_t>({1, 3}, {0, 0, 0}), expected, &from);
  EXPECT_EQ(tie.comparison.mismatches, 0);
  EXPECT_EQ(tie.ties, 1);
  const auto wrong = compare_within(tolerance, tensor<int64_t>({1, 3}, {1, 1, 0}), expected, &from);
  EXPECT_EQ(wrong.comparison.mismatches, 1);
  EXPECT_EQ(wrong.ties, 0);
  EXPECT_EQ(compare_within(tolerance, tensor<int64_t>({1, 3}, {0, 0, 0}), expected, nullptr).comparison.mismatches, 1);
}

}  // namespace
}  // namespace tenon
