// Which values of a plan lie in blocks of channels.
#include <gtest/gtest.h>

#include <random>

#include "compiler/targets/cpu/minimum_cut.h"
#include "compiler/targets/targets.h"
#include "ir/text.h"
#include "providers/provider.h"

namespace tenon {
namespace {

Plan plan_of(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  auto lowered = lower_for_cpu(*graph);
  EXPECT_TRUE(lowered.ok()) << lowered.status().to_string();
  return lowered.ok() ? lowered->program->plan : Plan();
}

// The steps with their operands; those in blocks are in brackets.
std::vector<std::string> layouts(const Plan& plan) {
  std::vector<std::string> lines;
  const auto text = [&](PlanValueId v) {
    if (v == kNoValue) return std::string("-");
    const PlanValue& value = plan.values[static_cast<size_t>(v)];
    return value.layout.is_plain() ? value.name : "[" + value.name + "]";
  };
  for (const Step& step : plan.steps)
    lines.push_back(std::string(op_def(step.op).name) + " " + text(step.inputs[0]) + " -> " + text(step.outputs[0]));
  return lines;
}

using Lines = std::vector<std::string>;

constexpr std::string_view kWeights = R"(
    %w: float[48, 32, 3, 3] source "w"
    %v: float[64, 48, 1, 1] source "v"
    %d: float[48, 1, 3, 3] source "d"
    %f: float[8, 32, 3, 3] source "f"
    %g: float[8, 8, 3, 3] source "g"
)";

std::string with_weights(std::string_view graph) { return std::string(kWeights) + std::string(graph); }

TEST(Layouts, AChainOfConvolutionsIsInBlocks) {
  EXPECT_EQ(layouts(plan_of(with_weights(R"(
    graph (%x: float[n, 32, 56, 56]) {
      %a = Conv(%x, %w) {strides=[2, 2], pads=[1, 1, 1, 1]}
      %b = Relu(%a)
      %c = Conv(%b, %d) {pads=[1, 1, 1, 1], group=48}
      %e = Mul(%c, %c)
      %y = Conv(%e, %v)
      return %y as "y"
    })"))),
            (Lines{"PackedConv x -> [b]", "PackedConv [b] -> [c]", "Pointwise [c] -> [e]", "PackedConv [e] -> [y]",
                   "Reorder [y] -> y"}));
}

TEST(Layouts, ExtentsMayBeOpen) {
  EXPECT_EQ(layouts(plan_of(with_weights(R"(
    graph (%x: float[n, 32, height, width]) {
      %a = Conv(%x, %w) {strides=[2, 2], pads=[1, 1, 1, 1]}
      %y = Conv(%a, %v)
      return %y as "y"
    })"))),
            (Lines{"PackedConv x -> [a]", "PackedConv [a] -> [y]", "Reorder [y] -> y"}));
}

TEST(Layouts, AValueThatLeavesIsPlainAsWell) {
  EXPECT_EQ(layouts(plan_of(with_weights(R"(
    %u: float[64, 48, 3, 3] source "u"
    graph (%x: float[1, 32, 56, 56]) {
      %a = Conv(%x, %w) {strides=[2, 2], pads=[1, 1, 1, 1]}
      %y = Conv(%a, %u) {strides=[2, 2]}
      return %y as "y", %a as "a"
    })"))),
            (Lines{"PackedConv x -> [a]", "Reorder [a] -> a", "PackedConv [a] -> [y]", "Reorder [y] -> y"}));
}

TEST(Layouts, WhatIsAddedLiesAsTheResult) {
  EXPECT_EQ(layouts(plan_of(with_weights(R"(
    %s: float[48, 48, 1, 1] source "s"
    graph (%x: float[1, 32, 56, 56]) {
      %a = Conv(%x, %w) {strides=[2, 2], pads=[1, 1, 1, 1]}
      %b = Conv(%a, %s)
      %c = Add(%b, %a)
      %r = Relu(%c)
      %y = GlobalAveragePool(%r)
      return %y as "y"
    })"))),
            (Lines{"PackedConv x -> [a]", "PackedConv [a] -> [r]", "GlobalAveragePool [r] -> y"}));
}

TEST(Layouts, FewChannelsWouldLeaveLanesEmpty) {
  EXPECT_EQ(layouts(plan_of(with_weights(R"(
    graph (%x: float[1, 32, 56, 56]) {
      %a = Conv(%x, %f) {pads=[1, 1, 1, 1]}
      %y = Conv(%a, %g) {pads=[1, 1, 1, 1]}
      return %y as "y"
    })"))),
            (Lines{"PackedConv x -> a", "PackedConv a -> y"}));
}

TEST(Layouts, ConcatTakesWholeBlocks) {
  const auto joined = [](int64_t first) {
    return layouts(plan_of(R"(
    %w: float[)" + std::to_string(first) +
                           R"(, 32, 3, 3] source "w"
    %u: float[64, 32, 3, 3] source "u"
    %v: float[64, )" + std::to_string(first + 64) +
                           R"(, 1, 1] source "v"
    graph (%x: float[1, 32, 56, 56]) {
      %a = Conv(%x, %w) {strides=[2, 2]}
      %b = Conv(%x, %u) {strides=[2, 2]}
      %c = Concat(%a, %b) {axis=1}
      %y = Conv(%c, %v)
      %p = GlobalAveragePool(%y)
      return %p as "p"
    })"));
  };
  const Lines whole = joined(48), parts = joined(40);
  EXPECT_TRUE(std::ranges::count(whole, "Concat [a] -> [c]")) << testing::PrintToString(whole);
  EXPECT_TRUE(std::ranges::count(parts, "Concat a -> c")) << testing::PrintToString(parts);
}

TEST(Layouts, SplitGivesWholeBlocks) {
  const auto split =
      [](int64_t first) {
        const std::string second = std::to_string(64 - first);
        return layouts(plan_of(R"(
    %w: float[64, 32, 3, 3] source "w"
    %v: float[64, )" + std::to_string(first) +
                               R"(, 1, 1] source "v"
    %u: float[64, )" + second + R"(, 1, 1] source "u"
    %sizes: int64[2] = [)" + std::to_string(first) +
                               ", " + second + R"(]
    graph (%x: float[1, 32, 56, 56]) {
      %a = Conv(%x, %w) {strides=[2, 2]}
      %b, %c = Split(%a, %sizes) {axis=1}
      %d = Conv(%b, %v)
      %e = Conv(%c, %u)
      %f = Add(%d, %e)
      %p = GlobalAveragePool(%f)
      return %p as "p"
    })"));
      };
  const Lines whole = split(48), parts = split(40);
  EXPECT_TRUE(std::ranges::count(whole, "Split [a] -> [b]")) << testing::PrintToString(whole);
  EXPECT_TRUE(std::ranges::count(parts, "Split a -> b")) << testing::PrintToString(parts);
}

TEST(Layouts, NormalizationsAndTransposedConvolutionsKeepBlocks) {
  EXPECT_EQ(layouts(plan_of(with_weights(R"(
    %t: float[48, 32, 2, 2] source "t"
    %scale: float[48] source "scale"
    %bias: float[48] source "bias"
    graph (%x: float[1, 32, 56, 56]) {
      %a = Conv(%x, %w) {strides=[2, 2], pads=[1, 1, 1, 1]}
      %b = InstanceNormalization(%a, %scale, %bias)
      %c = GroupNormalization(%b, %scale, %bias) {num_groups=6}
      %e = ConvTranspose(%c, %t) {strides=[2, 2]}
      %y = GlobalAveragePool(%e)
      return %y as "y"
    })"))),
            (Lines{"PackedConv x -> [a]", "InstanceNormalization [a] -> [b]", "GroupNormalization [b] -> [c]",
                   "PackedConvTranspose [c] -> [e]", "GlobalAveragePool [e] -> y"}));
}

TEST(Layouts, TransposedConvolutionsWithFewOutputsArePlain) {
  EXPECT_EQ(layouts(plan_of(with_weights(R"(
    %t: float[48, 1, 2, 2] source "t"
    graph (%x: float[1, 32, 56, 56]) {
      %a = Conv(%x, %w) {strides=[2, 2], pads=[1, 1, 1, 1]}
      %y = ConvTranspose(%a, %t) {strides=[2, 2]}
      return %y as "y"
    })"))),
            (Lines{"PackedConv x -> [a]", "Reorder [a] -> a", "PackedConvTranspose a -> y"}));
}

// All splits of a few points.
int64_t least_cost(size_t points, const std::vector<std::array<int64_t, 3>>& edges) {
  int64_t least = MinimumCut::kForbidden;
  for (uint32_t split = 0; split < 1u << points; ++split) {
    const auto in_first = [&](int64_t p) { return p == 0 || (p > 1 && (split >> (p - 2) & 1) != 0); };
    int64_t cost = 0;
    for (const auto& [from, to, price] : edges) cost += in_first(from) && !in_first(to) ? price : 0;
    least = std::min(least, cost);
  }
  return least;
}

TEST(MinimumCut, CostsLeast) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const size_t points = 1 + random() % 7;
    MinimumCut cut;
    for (size_t i = 0; i < points; ++i) cut.add_point();
    std::vector<std::array<int64_t, 3>> edges;
    for (size_t i = 0; i < 3 * points; ++i) {
      const auto from = static_cast<int64_t>(random() % (points + 2)),
                 to = static_cast<int64_t>(random() % (points + 2));
      if (from == to) continue;
      edges.push_back({from, to, static_cast<int64_t>(random() % 20)});
      cut.add_edge(static_cast<size_t>(from), static_cast<size_t>(to), edges.back()[2]);
    }
    const std::vector<bool> in_first = cut.solve();
    ASSERT_TRUE(in_first[0] && !in_first[1]);
    int64_t cost = 0;
    for (const auto& [from, to, price] : edges)
      cost += in_first[static_cast<size_t>(from)] && !in_first[static_cast<size_t>(to)] ? price : 0;
    ASSERT_EQ(cost, least_cost(points, edges)) << "round " << round;
  }
}

}  // namespace
}  // namespace tenon
