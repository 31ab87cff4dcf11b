// Which values a compile moves into the weight program, and the slots they get.
#include "compiler/weight_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/targets/targets.h"
#include "evaluate/expression.h"
#include "ir/text.h"
#include "support/graph_text.h"

namespace tenon {
namespace {

using test::graph_of;
using test::value_named;
using testing::ElementsAre;

constexpr std::string_view kScaledBias = R"(
  %s: float[3] source "s"
  %b: float[3] source "b"
  %shape: int64[2] = [64, 3]
  graph (%x: float[n, 3]) {
    %t = Mul(%s, %b)
    %u = Sub(%t, %s)
    %big = Expand(%u, %shape)
    %y = Add(%x, %u)
    return %y as "y", %big as "big"
  })";

TEST(WeightSide, HoldsWhatComesFromConstantsAndDoesNotGrow) {
  const Graph graph = graph_of(kScaledBias);
  const WeightSide side(graph, true);
  EXPECT_TRUE(side.becomes_slot(value_named(graph, "s")));
  EXPECT_TRUE(side.becomes_slot(value_named(graph, "u")));
  EXPECT_FALSE(side.becomes_slot(value_named(graph, "big")));
  EXPECT_FALSE(side.becomes_slot(value_named(graph, "y")));
  const auto nodes = nodes_behind(graph, value_named(graph, "u"));
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(graph.node(nodes[0]).op, OpId::Mul);
  EXPECT_EQ(graph.node(nodes[1]).op, OpId::Sub);
}

TEST(WeightSide, HoldsConstantsAloneWhenNodesStay) {
  const Graph graph = graph_of(kScaledBias);
  const WeightSide side(graph, false);
  EXPECT_TRUE(side.becomes_slot(value_named(graph, "b")));
  EXPECT_FALSE(side.becomes_slot(value_named(graph, "u")));
}

// What a compile makes of a weight: the families of the steps of the plan, and of the expressions of its slots.
struct Families {
  std::vector<std::string> plan, weights;
};
Families families_of(std::string_view text) {
  Families families;
  const auto lowered = lower_for_cpu(graph_of(text));
  EXPECT_TRUE(lowered.ok()) << lowered.status().to_string();
  if (!lowered.ok()) return families;
  for (const Step& step : lowered->program->plan.steps) families.plan.push_back(step.family);
  for (const WeightEntry& entry : lowered->program->weight_program)
    if (entry.expression)
      for (const Step& step : entry.expression->steps) families.weights.push_back(step.family);
  return families;
}

TEST(WeightSide, ANormalizedWeightIsOnePackedStep) {
  const Families families = families_of(R"(
    %v: float[4, 3, 5] source "v"
    %g: float[4, 1, 1] source "g"
    %two: float[] = [2]
    %axes: int64[2] = [1, 2]
    graph (%x: float[n, 3, 20]) {
      %squares = Pow(%v, %two)
      %sum = ReduceSum(%squares, %axes)
      %norm = Sqrt(%sum)
      %unit = Div(%v, %norm)
      %w = Mul(%unit, %g)
      %y = Conv(%x, %w)
      return %y as "y"
    })");
  EXPECT_THAT(families.plan, ElementsAre("cpu/PackedConv"));
  EXPECT_THAT(families.weights, ElementsAre("reference/Pow", "reference/ReduceSum", "reference/Sqrt", "reference/Div",
                                            "reference/Mul", "cpu/PackPanels"));
}

TEST(WeightSide, ATableThatIsReadByConstantIndicesIsASlot) {
  const Families families = families_of(R"(
    %table: float[169, 2] source "table"
    %index: int64[49, 49] source "index"
    %zero: int64[1] = [0]
    graph (%x: float[n, 2, 49, 49]) {
      %bias = Gather(%table, %index)
      %heads = Transpose(%bias) {perm=[2, 0, 1]}
      %one = Unsqueeze(%heads, %zero)
      %y = Add(%x, %one)
      return %y as "y"
    })");
  EXPECT_THAT(families.plan, ElementsAre("cpu/Pointwise"));
  EXPECT_THAT(families.weights, ElementsAre("reference/Gather", "reference/Transpose", "reference/Unsqueeze"));
}

TEST(WeightSide, WhatGrowsStaysInThePlan) {
  const Families families = families_of(R"(
    %table: float[169, 24] source "table"
    %index: int64[49, 49] source "index"
    graph (%x: float[49, 49, 24]) {
      %bias = Gather(%table, %index)
      %y = Add(%x, %bias)
      return %y as "y"
    })");
  EXPECT_THAT(families.plan, ElementsAre("cpu/Gather", "cpu/Pointwise"));
  EXPECT_THAT(families.weights, ElementsAre());
}

TEST(WeightSide, FunctionsOfWeightsAreComputedWithThem) {
  for (const std::string op : {"Exp", "Log", "Sigmoid", "Tanh", "Softplus", "Erf", "Gelu", "Softmax", "Sin", "Elu",
                               "HardSigmoid", "Softsign", "Atan"}) {
    const Families families = families_of("%w: float[3] source \"w\" graph (%x: float[n, 3]) { %f = " + op +
                                          "(%w) %y = Mul(%x, %f) return %y as \"y\" }");
    EXPECT_THAT(families.plan, ElementsAre("cpu/Pointwise")) << op;
    EXPECT_THAT(families.weights, ElementsAre("reference/" + op));
  }
}

TEST(WeightSide, RandomNumbersStayInThePlan) {
  const Families families = families_of(R"(
    %w: float[3] source "w"
    graph (%x: float[n, 3]) {
      %noise = RandomNormalLike(%w)
      %y = Mul(%x, %noise)
      return %y as "y"
    })");
  EXPECT_THAT(families.plan, ElementsAre("reference/RandomNormalLike", "cpu/Pointwise"));
}

// A body that never runs must not make a compile fail.
TEST(WeightSide, WhatCanFailStaysInABody) {
  const Families families = families_of(R"(
    %w: float[3] source "w"
    %far: int64[1] = [7]
    graph (%x: float[1], %go: bool[]) {
      %y = If(%go)
        graph { %a = Gather(%w, %far) return %a as "then" }
        graph { return %x as "else" }
      return %y as "y"
    })");
  EXPECT_THAT(families.plan, ElementsAre("control/If"));
  EXPECT_THAT(families.weights, ElementsAre());
}

// A few numbers can stand for any amount of work, which no run could cancel while weights are loaded.
TEST(WeightSide, LeavesDetoursOverHugeValuesToTheRun) {
  const Graph graph = graph_of(R"(
  %small: float[4] source "small"
  %many: int64[2] = [4096, 4]
  %huge: int64[2] = [1000000, 4]
  graph (%x: float[n, 4]) {
    %a = Expand(%small, %many)
    %b = ReduceMax(%a)
    %c = Expand(%small, %huge)
    %d = ReduceMax(%c)
    %e = Neg(%d)
    return %b as "b", %e as "e"
  })");
  const WeightSide side(graph, true);
  EXPECT_FALSE(side.becomes_slot(value_named(graph, "a")));
  EXPECT_TRUE(side.becomes_slot(value_named(graph, "b")));
  EXPECT_FALSE(side.becomes_slot(value_named(graph, "c")));
  EXPECT_FALSE(side.becomes_slot(value_named(graph, "d")));
  EXPECT_FALSE(side.becomes_slot(value_named(graph, "e")));
}

TEST(Slots, ANormalizedConvolutionReadsTwo) {
  const auto lowered = lower_for_cpu(graph_of(R"(
    %w: float[4, 3, 3, 3] source "w"
    %scale: float[4] source "scale"
    %shift: float[4] source "shift"
    %mean: float[4] source "mean"
    %var: float[4] source "var"
    graph (%x: float[n, 3, 8, 8]) {
      %c = Conv(%x, %w)
      %y = BatchNormalization(%c, %scale, %shift, %mean, %var)
      return %y as "y"
    })"));
  ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
  const Program& program = *lowered->program;
  ASSERT_EQ(program.plan.steps.size(), 1u);
  EXPECT_EQ(program.plan.steps[0].family, "cpu/PackedConv");
  ASSERT_EQ(program.weight_program.size(), 2u);
  const auto names = [&](const WeightEntry& entry) {
    std::vector<std::string> result;
    for (int32_t source : entry.sources) result.push_back(program.sources[static_cast<size_t>(source)].name);
    std::ranges::sort(result);
    // The epsilon is a constant of the rule, which no file names.
    std::erase(result, "");
    return result;
  };
  EXPECT_THAT(names(program.weight_program[0]), testing::IsSupersetOf({"w", "scale", "var"}));
  EXPECT_THAT(names(program.weight_program[1]), testing::IsSupersetOf({"mean", "scale", "shift", "var"}));
}

TEST(Slots, OneWeightReadTwiceIsOneSlot) {
  const auto lowered = lower_for_reference(graph_of(R"(
    %w: float[3] source "w"
    graph (%x: float[n, 3]) {
      %a = Mul(%x, %w)
      %y = Add(%a, %w)
      return %y as "y"
    })"));
  ASSERT_TRUE(lowered.ok()) << lowered.status().to_string();
  const Program& program = *lowered->program;
  ASSERT_EQ(program.weight_program.size(), 1u);
  EXPECT_THAT(program.weight_program[0].sources, ElementsAre(0));
  EXPECT_EQ(program.weight_program[0].expression, nullptr);
  ASSERT_EQ(program.plan.steps.size(), 2u);
  EXPECT_EQ(program.plan.steps[0].inputs[1], program.plan.steps[1].inputs[1]);
}

}  // namespace
}  // namespace tenon
