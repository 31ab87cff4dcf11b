#include <gmock/gmock.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? std::move(*graph) : Graph();
}

struct Normalized {
  std::vector<std::string> ops, rules;
  Graph graph;
};

Normalized normalized(std::string_view text) {
  Normalized result;
  result.graph = parsed(text);
  ChangeLog log;
  const Status status = run_passes(result.graph, CapabilitySet::defaults(), log, {.must_descend = true});
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_TRUE(verify(result.graph).ok()) << verify(result.graph).to_string();
  EXPECT_EQ(log.found_late, 0u);
  for (const GraphNode& node : result.graph.nodes()) result.ops.emplace_back(op_def(node.op).name);
  for (const Patch::Change& change : log.changes) result.rules.push_back(change.label);
  // The normal form is a fixpoint.
  ChangeLog again;
  EXPECT_TRUE(run_passes(result.graph, CapabilitySet::defaults(), again, {.must_descend = true}).ok());
  EXPECT_THAT(again.changes, IsEmpty());
  return result;
}

TEST(Normalize, RemovesWhatHandsOnItsOnlyOperand) {
  const auto n = normalized(R"(
    graph (%x: float[2]) {
      %a = Identity(%x)
      %b = Concat(%a) {axis=0}
      %c = Sum(%b)
      %y = Relu(%c)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Relu"));
  EXPECT_THAT(n.rules, ElementsAre("remove_identity", "remove_identity", "remove_identity"));
}

TEST(Normalize, KeepsAnIdentityThatGivesAValueItsSecondName) {
  EXPECT_THAT(normalized("graph (%x: float[2]) { %y = Identity(%x) return %y as \"y\" }").ops, ElementsAre("Identity"));
  EXPECT_THAT(normalized(R"(
    graph (%x: float[2]) {
      %a = Relu(%x)
      %b = Identity(%a)
      return %a as "a", %b as "b"
    })")
                  .ops,
              ElementsAre("Relu", "Identity"));
}

TEST(Normalize, LetsAnOutputHaveTheNameOfTheRemovedNode) {
  const auto n = normalized(R"(
    graph (%x: float[2]) {
      %a = Relu(%x)
      %b = Identity(%a)
      return %b as "b"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Relu"));
  EXPECT_THAT(n.graph.output_names(), ElementsAre("b"));
}

TEST(Normalize, FoldsShapesThatAreKnown) {
  const auto n = normalized(R"(
    %0: int64[] = [1]
    %1: int64[1] = [-1]
    %2: int64[1] = [0]
    graph (%x: float[batch, 6, 2]) {
      %shape = Shape(%x)
      %six = Gather(%shape, %0)
      %list = Unsqueeze(%six, %2)
      %target = Concat(%1, %list) {axis=0}
      %y = Reshape(%x, %target)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Reshape"));
  const GraphNode& reshape = n.graph.node(n.graph.first_node());
  const Tensor* target = n.graph.elements_at_hand(reshape.inputs[1]);
  ASSERT_NE(target, nullptr);
  EXPECT_THAT(target->as<int64_t>(), ElementsAre(-1, 6));
}

TEST(Normalize, LeavesExpressionsOfNamedFloatWeights) {
  const auto n = normalized(R"(
    %w: float[2] source "weight"
    graph (%x: float[2]) {
      %s = Exp(%w)
      %y = Mul(%x, %s)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Exp", "Mul"));
}

TEST(Normalize, RemovesReshapesThatKeepASymbolicShape) {
  const auto n = normalized(R"(
    %0: int64[2] = [-1, 64]
    graph (%x: float[batch, 64]) {
      %a = Reshape(%x, %0)
      %y = Relu(%a)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Relu"));
}

TEST(Normalize, KeepsReshapesWhoseResultIsNotKnown) {
  const auto n = normalized(R"(
    graph (%x: float[batch, 64], %shape: int64[2]) {
      %a = Reshape(%x, %shape)
      %y = Relu(%a)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Reshape", "Relu"));
}

TEST(Normalize, KeepsSlicesThatTurnAnAxisAround) {
  const auto n = normalized(R"(
    %start: int64[1] = [-1]
    %end: int64[1] = [-100]
    %axis: int64[1] = [0]
    %step: int64[1] = [-1]
    graph (%x: float[3]) {
      %a = Slice(%x, %start, %end, %axis, %step)
      %y = Relu(%a)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Slice", "Relu"));
}

TEST(Normalize, ComputesEqualExpressionsOnce) {
  const auto n = normalized(R"(
    graph (%x: float[3]) {
      %a = Exp(%x)
      %b = Exp(%x)
      %c = Relu(%a)
      %d = Relu(%b)
      %y = Add(%c, %d)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Exp", "Relu", "Add"));
}

TEST(Normalize, NeverMergesRandomNodes) {
  const auto n = normalized(R"(
    graph (%x: float[3]) {
      %a = RandomNormalLike(%x)
      %b = RandomNormalLike(%x)
      %y = Add(%a, %b)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("RandomNormalLike", "RandomNormalLike", "Add"));
}

TEST(Normalize, TakesTheBranchOfAConstantCondition) {
  const auto n = normalized(R"(
    %yes: bool[] = [true]
    graph (%x: float[3]) {
      %y = If(%yes)
        graph { %a = Relu(%x) return %a as "then" }
        graph { %a = Abs(%x) return %a as "else" }
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Relu"));
}

TEST(Normalize, RemovesNodesThatNoOutputDependsOn) {
  const auto n = normalized(R"(
    graph (%x: float[3]) {
      %a = Exp(%x)
      %b = Relu(%a)
      %y = Abs(%x)
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("Abs"));
}

TEST(Normalize, ForgetsWhatBodiesDoNotReadAnyMore) {
  const auto n = normalized(R"(
    graph (%x: float[3], %go: bool[]) {
      %a = Exp(%x)
      %y = If(%go)
        graph { %u = Relu(%a) %v = Abs(%x) return %v as "then" }
        graph { %v = Neg(%x) return %v as "else" }
      return %y as "y"
    })");
  EXPECT_THAT(n.ops, ElementsAre("If"));
}

}  // namespace
}  // namespace tenon
