// How elementwise nodes become expressions, and which expressions take each other in.
#include <gtest/gtest.h>

#include "compiler/targets/cpu/claim.h"
#include "ir/text.h"
#include "ops/pointwise.h"

namespace tenon {
namespace {

// The expressions that a graph's nodes become: "add mul -> 2 results" for each, in order.
std::vector<std::string> expressions(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  ChangeLog log;
  for (const Rule& rule : {claim_pointwise(), fuse_pointwise()}) {
    const Status status = rewrite(*graph, std::span(&rule, 1), log);
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  std::vector<std::string> found;
  for (const GraphNode& node : graph->nodes()) {
    if (node.op != OpId::Pointwise) {
      found.emplace_back(op_def(node.op).name);
      continue;
    }
    const auto& p = node.params.get<PointwiseParams>();
    std::string words;
    for (size_t i = 0; i < p.size(); ++i) words += std::string(pointwise_info(p.at(i).op).name) + " ";
    found.push_back(words + "-> " + std::to_string(p.results.size()));
  }
  return found;
}

using Expressions = std::vector<std::string>;

TEST(PointwiseClaims, AChainBecomesOneExpression) {
  EXPECT_EQ(expressions(R"(
    %b: float[4] source "b"
    graph (%x: float[n, 4]) {
      %s = Add(%x, %b)
      %t = Tanh(%s)
      %y = Mul(%t, %x)
      return %y as "y"
    })"),
            Expressions({"add tanh mul -> 1"}));
}

TEST(PointwiseClaims, AValueThatOthersReadIsAResultToo) {
  EXPECT_EQ(expressions(R"(
    graph (%x: float[n, 4], %z: float[n, 4]) {
      %s = Add(%x, %z)
      %y = Relu(%s)
      return %y as "y", %s as "s"
    })"),
            Expressions({"add relu -> 2"}));
}

// What is computed for a row must not be computed again for each of its elements.
TEST(PointwiseClaims, SmallerOperandsStayApart) {
  EXPECT_EQ(expressions(R"(
    graph (%x: float[n, 4], %r: float[n, 1]) {
      %e = Exp(%r)
      %y = Mul(%x, %e)
      return %y as "y"
    })"),
            Expressions({"exp -> 1", "mul -> 1"}));
}

TEST(PointwiseClaims, AReaderOnTheWayIsNoReasonForACycle) {
  EXPECT_EQ(expressions(R"(
    %axes: int64[1] = [1]
    graph (%x: float[n, 4]) {
      %e = Exp(%x)
      %s = ReduceSum(%e, %axes)
      %y = Div(%e, %s)
      return %y as "y"
    })"),
            Expressions({"exp -> 1", "ReduceSum", "div -> 1"}));
}

TEST(PointwiseClaims, IntegersAreLeftAlone) {
  EXPECT_EQ(expressions(R"(
    graph (%x: int64[n, 4]) {
      %y = Neg(%x)
      return %y as "y"
    })"),
            Expressions({"Neg"}));
}

TEST(PointwiseClaims, NarrowFloatsAreRoundedBetweenOps) {
  EXPECT_EQ(expressions(R"(
    graph (%x: float16[n, 4]) {
      %t = Tanh(%x)
      %y = Neg(%t)
      return %y as "y"
    })"),
            Expressions({"tanh round_to_float16 neg round_to_float16 -> 1"}));
}

TEST(PointwiseClaims, BoundsThatAreMissingAreInfinite) {
  EXPECT_EQ(expressions(R"(
    %least: float[] source "least"
    graph (%x: float[n, 4]) {
      %y = Clip(%x, %least)
      return %y as "y"
    })"),
            Expressions({"clip -> 1"}));
}

}  // namespace
}  // namespace tenon
