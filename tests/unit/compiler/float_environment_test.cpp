// What a session computes does not depend on the floating-point environment of the thread that asks.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "support/small_graph.h"
#include "support/strange_float_environment.h"

namespace tenon {
namespace {

using test::elements;
using test::SmallGraph;
using test::StrangeFloatEnvironment;
using test::tensor;

// Results are compared outside, where a denormal number is not equal to zero.
template <class F>
std::vector<float> in_strange_environment(F f) {
  const StrangeFloatEnvironment strange;
  std::vector<float> result = f();
  EXPECT_EQ(StrangeFloatEnvironment::control(), StrangeFloatEnvironment::kControl) << "the caller's is another now";
  return result;
}

// Results that are denormal, and results that are not exact.
SmallGraph products(const std::vector<float>& factors) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(4)});
  g.output("y", g.node(OpId::Mul, {x, g.weight<float>("w", {4}, factors)}));
  return g;
}
const std::vector<float> kFactors{1e-10f, 0.1f, 3e-39f, 1.0f / 3};
const std::vector<float> kNumbers{1e-30f, 0.3f, 1.5f, 1.0f / 7};

TEST(FloatEnvironment, ReferenceResultsAreThoseOfTheDefault) {
  const auto session = products(kFactors).session();
  const auto run = [&] { return elements<float>((*session->run({tensor<float>({4}, kNumbers)}, {}, {}))[0]); };
  const std::vector<float> expected = run();
  ASSERT_GT(expected[0], 0);
  const std::vector<float> found = in_strange_environment(run);
  EXPECT_EQ(found, expected);
}

// 1e-30 * 1e-10 is below the smallest normal number.
TEST(FloatEnvironment, FastKernelsTakeSubnormalNumbersAsZeroUnlessTheyAreKept) {
  const SmallGraph g = products(kFactors);
  for (const bool keep : {true, false})
    for (const auto& pool : {std::shared_ptr<ThreadPool>(), std::make_shared<ThreadPool>(1)}) {
      SessionOptions options;
      options.keep_subnormals = keep;
      options.pool = pool;
      const auto session = g.session(options, "cpu");
      const auto run = [&] { return elements<float>((*session->run({tensor<float>({4}, kNumbers)}, {}, {}))[0]); };
      for (const std::vector<float>& found : {run(), in_strange_environment(run)}) {
        EXPECT_EQ(found[0] > 0, keep);
        EXPECT_EQ(found[1], 0.1f * 0.3f);
        EXPECT_EQ(found[2] > 0, keep);
      }
      EXPECT_GT(std::numeric_limits<float>::denorm_min() * kNumbers[2], 0) << "the caller keeps them";
    }
}

// y = x W with W scaled by a constant, which the weight program does.
SmallGraph scaled_product() {
  SmallGraph g;
  constexpr int64_t kSize = 64;
  std::vector<float> numbers(kSize * kSize), scales(kSize);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1e-30f * static_cast<float>(i + 1) / 7;
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = 1e-10f * static_cast<float>(i + 1) / 3;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim::symbol("n"), Dim(kSize)});
  const ValueId w = g.weight<float>("w", {kSize, kSize}, numbers);
  g.output("y", g.node(OpId::Mul, {g.node(OpId::MatMul, {x, w}), g.weight<float>("s", {kSize}, scales)}));
  return g;
}

std::vector<float> packed(const SmallGraph& g, std::shared_ptr<ThreadPool> pool) {
  SessionOptions options;
  options.pool = std::move(pool);
  const auto session = g.session(options, "cpu");
  std::vector<float> numbers;
  for (const Tensor& slot : session->weights()->slots)
    if (slot.dtype() == DType::Float32) numbers.insert(numbers.end(), slot.as<float>().begin(), slot.as<float>().end());
  return numbers;
}

TEST(FloatEnvironment, PackedWeightsAreThoseOfTheDefault) {
  const SmallGraph g = scaled_product();
  const std::vector<float> expected = packed(g, nullptr);
  ASSERT_TRUE(std::ranges::any_of(expected, [](float v) { return v > 0 && v < 1e-38f; })) << "nothing is denormal";
  EXPECT_EQ(in_strange_environment([&] { return packed(g, nullptr); }), expected);
  // Workers inherit the environment of the thread that starts them.
  EXPECT_EQ(in_strange_environment([&] { return packed(g, std::make_shared<ThreadPool>(2)); }), expected);
}

}  // namespace
}  // namespace tenon
