#include "evaluate/evaluate.h"

#include <gmock/gmock.h>

#include "base/exact_math.h"
#include "ir/infer_readers.h"
#include "ir/text.h"
#include "support/graph_text.h"

namespace tenon {
namespace {

using test::graph_of;
using test::value_named;
using testing::ElementsAre;

Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span(values));
}

std::vector<float> elements(const Result<Tensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status().to_string();
  if (!tensor.ok()) return {};
  return {tensor->as<float>().begin(), tensor->as<float>().end()};
}

TEST(Evaluate, OneOp) {
  EXPECT_THAT(elements(evaluate(OpId::Mul, {}, {floats({1, 2}), floats({3, 4})})), ElementsAre(3, 8));
  EXPECT_THAT(elements(evaluate(OpId::Exp, {}, {floats({1.5f})})), ElementsAre(static_cast<float>(exact::exp(1.5))));
}

TEST(Evaluate, AbsentInputs) {
  EXPECT_THAT(elements(evaluate(OpId::Clip, {}, {floats({-3, 9}), Tensor(), floats({4}).reshaped({})})),
              ElementsAre(-3, 4));
}

TEST(Evaluate, IndicesAreChecked) {
  const auto at = [](int64_t index) {
    return evaluate(OpId::Gather, {}, {floats({5, 6, 7}), Tensor::of_ints(std::array{index})});
  };
  EXPECT_THAT(elements(at(-1)), ElementsAre(7));
  EXPECT_EQ(at(3).status().code(), Code::InvalidArgument);
}

TEST(Evaluate, RandomNumbersAreNoConstants) { EXPECT_FALSE(evaluate(OpId::RandomNormalLike, {}, {floats({1})}).ok()); }

TEST(Evaluate, AValueOfAGraph) {
  const Graph graph = graph_of(R"(
    %a: float[2] = [3, 4]
    %two: float[] = [2]
    graph (%x: float[2]) {
      %squares = Pow(%a, %two)
      %sum = ReduceSum(%squares)
      %norm = Sqrt(%sum)
      %unit = Div(%a, %norm)
      %y = Mul(%x, %unit)
      return %y as "y"
    })");
  EXPECT_THAT(elements(evaluate(graph, value_named(graph, "norm"))), ElementsAre(5));
  EXPECT_THAT(elements(evaluate(graph, value_named(graph, "unit"))), ElementsAre(3.0f / 5, 4.0f / 5));
  EXPECT_THAT(elements(evaluate(graph, value_named(graph, "a"))), ElementsAre(3, 4));
  EXPECT_FALSE(evaluate(graph, value_named(graph, "y")).ok());
}

TEST(Evaluate, InferenceKnowsWhatConstantsGive) {
  Graph graph = graph_of(R"(
    %zero: float[] = [0]
    %one: float[] = [1]
    %end: float[] = [2.5]
    graph (%x: float[1]) {
      %limit = Ceil(%end)
      %steps = Range(%zero, %limit, %one)
      %y = Mul(%x, %steps)
      return %y as "y"
    })");
  EXPECT_FALSE(is_static(*graph.value(value_named(graph, "steps")).type.shape));
  graph.constants->evaluate = evaluate;
  ASSERT_TRUE(infer_graph(graph).ok());
  EXPECT_EQ(graph.value(value_named(graph, "y")).type.to_string(), "float[3]");
}

TEST(Evaluate, NaNsAreOne) {
  const auto result = evaluate(OpId::Sqrt, {}, {floats({-1, -0.0f})});
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->as<uint32_t>(), ElementsAre(0x7fc00000u, 0x80000000u));
}

}  // namespace
}  // namespace tenon
