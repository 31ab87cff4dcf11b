#include "ir/rewrite.h"

#include <gmock/gmock.h>

#include "ir/readers.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? std::move(*graph) : Graph();
}

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphNode& node : graph.nodes()) names.emplace_back(op_def(node.op).name);
  return names;
}

// Neg(Neg(x)) is x.
Attempt drop_double_negation(Graph& graph, NodeId root) {
  const GraphNode* inner = maker(graph, graph.node(root).inputs[0], OpId::Neg);
  if (!inner) return Attempt::none();
  auto patch = std::make_unique<Patch>(graph, root, "drop_double_negation");
  patch->set_reason("two signs cancel");
  patch->forward(graph.node(root).outputs[0], inner->inputs[0]);
  return Attempt::of(std::move(patch));
}

// x + x is 2 * x.
Attempt double_by_product(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  if (node.inputs[0] != node.inputs[1]) return Attempt::no("the operands differ");
  auto patch = std::make_unique<Patch>(graph, root, "double_by_product");
  patch->redefine(node.outputs[0], patch->op(OpId::Mul, {node.inputs[0], patch->scalar(2)}));
  return Attempt::of(std::move(patch));
}

const std::vector<Rule> kRules = {{"drop_double_negation", {OpId::Neg}, drop_double_negation},
                                  {"double_by_product", {OpId::Add}, double_by_product}};

TEST(Rewrite, AppliesRulesToTheEndAndTellsWhatItDid) {
  Graph graph = parsed(R"(
    graph (%x: float[2]) {
      %a = Neg(%x)
      %b = Neg(%a)
      %c = Neg(%b)
      %d = Neg(%c)
      %e = Add(%d, %x)
      return %e as "e"
    })");
  ChangeLog log;
  ASSERT_TRUE(rewrite(graph, kRules, log).ok());
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).to_string();
  // Only when the signs are gone are both operands the same.
  EXPECT_THAT(ops(graph), ElementsAre("Mul"));
  ASSERT_EQ(log.changes.size(), 3u);
  EXPECT_EQ(log.changes[0].label, "drop_double_negation");
  EXPECT_EQ(log.changes[0].reason, "two signs cancel");
  EXPECT_THAT(log.changes[2].removed, ElementsAre("Add 'e'"));
  EXPECT_THAT(log.changes[2].added, ElementsAre("Mul"));
}

TEST(Rewrite, KeepsTheNamesOfOutputs) {
  Graph graph = parsed("graph (%x: float[2]) { %sum = Add(%x, %x) return %sum as \"total\" }");
  ChangeLog log;
  ASSERT_TRUE(rewrite(graph, kRules, log).ok());
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "sum");
  EXPECT_EQ(graph.output_names()[0], "total");
}

TEST(Rewrite, GoesIntoBodies) {
  Graph graph = parsed(R"(
    graph (%x: float[2], %go: bool[]) {
      %y = If(%go)
        graph { %a = Add(%x, %x) return %a as "then" }
        graph { %a = Neg(%x) %b = Neg(%a) %c = Abs(%b) return %c as "else" }
      return %y as "y"
    })");
  ChangeLog log;
  ASSERT_TRUE(rewrite(graph, kRules, log).ok());
  const GraphNode& branch = graph.node(graph.first_node());
  EXPECT_THAT(ops(*branch.bodies[0]), ElementsAre("Mul"));
  EXPECT_THAT(ops(*branch.bodies[1]), ElementsAre("Abs"));
}

TEST(Rewrite, LeavesAnOutputThatWouldNeedTwoNames) {
  Graph graph = parsed("graph (%x: float[2]) { %a = Neg(%x) %b = Neg(%a) return %b as \"b\" }");
  ChangeLog log;
  ASSERT_TRUE(rewrite(graph, kRules, log).ok());
  EXPECT_THAT(ops(graph), ElementsAre("Neg", "Neg"));
  ASSERT_FALSE(log.misses.empty());
  EXPECT_EQ(log.misses.back().reason, "'x' would need two names");
}

TEST(Rewrite, TellsWhyARuleDidNotFire) {
  Graph graph = parsed("graph (%x: float[2], %y: float[2]) { %s = Add(%x, %y) return %s as \"s\" }");
  ChangeLog log;
  ASSERT_TRUE(rewrite(graph, kRules, log).ok());
  EXPECT_THAT(log.changes, IsEmpty());
  ASSERT_EQ(log.misses.size(), 1u);
  EXPECT_EQ(log.misses[0].rule, "double_by_product");
  EXPECT_EQ(log.misses[0].root, "s");
  EXPECT_EQ(log.misses[0].reason, "the operands differ");
}

TEST(Rewrite, EndsWhenRulesUndoEachOther) {
  const std::vector<Rule> fighting = {
      {"abs_to_relu",
       {OpId::Abs},
       [](Graph& graph, NodeId root) {
         auto patch = std::make_unique<Patch>(graph, root, "abs_to_relu");
         patch->redefine(graph.node(root).outputs[0], patch->op(OpId::Relu, {graph.node(root).inputs[0]}));
         return Attempt::of(std::move(patch));
       }},
      {"relu_to_abs", {OpId::Relu}, [](Graph& graph, NodeId root) {
         auto patch = std::make_unique<Patch>(graph, root, "relu_to_abs");
         patch->redefine(graph.node(root).outputs[0], patch->op(OpId::Abs, {graph.node(root).inputs[0]}));
         return Attempt::of(std::move(patch));
       }}};
  Graph graph = parsed("graph (%x: float[2]) { %y = Abs(%x) return %y as \"y\" }");
  ChangeLog log;
  const Status status = rewrite(graph, fighting, log);
  EXPECT_EQ(status.code(), Code::Internal);
  EXPECT_NE(status.message().find("endlessly;"), std::string::npos);
}

TEST(Patch, LeavesNoTraceWhenItIsDropped) {
  Graph graph = parsed("graph (%x: float[2]) { %y = Abs(%x) return %y as \"y\" }");
  const std::string before = graph_text(graph);
  const size_t values = graph.value_count(), nodes = graph.node_id_count();
  {
    Patch patch(graph, graph.first_node(), "test");
    patch.redefine(graph.outputs()[0], patch.op(OpId::Mul, {graph.inputs[0].value, patch.scalar(3)}));
  }
  EXPECT_EQ(graph_text(graph), before);
  EXPECT_EQ(graph.value_count(), values);
  EXPECT_EQ(graph.node_id_count(), nodes);
  EXPECT_TRUE(verify(graph).ok());
}

TEST(Patch, TakesWhatItMadeInVainNotIntoTheGraph) {
  Graph graph = parsed("graph (%x: float[2]) { %y = Abs(%x) return %y as \"y\" }");
  Patch patch(graph, graph.first_node(), "test");
  patch.op(OpId::Exp, {graph.inputs[0].value});
  patch.redefine(graph.outputs()[0], patch.op(OpId::Relu, {graph.inputs[0].value}));
  ASSERT_TRUE(patch.apply().ok());
  EXPECT_THAT(ops(graph), ElementsAre("Relu"));
}

TEST(Patch, KeepsWhatOthersRead) {
  Graph graph = parsed(R"(
    graph (%x: float[2], %go: bool[]) {
      %a = Neg(%x)
      %b = Abs(%a)
      %c = If(%go) graph { return %a as "then" } graph { return %x as "else" }
      return %b as "b", %c as "c"
    })");
  Patch patch(graph, graph.value(graph.outputs()[0]).producer, "test");
  patch.redefine(graph.outputs()[0], patch.op(OpId::Abs, {graph.inputs[0].value}));
  ASSERT_TRUE(patch.apply().ok());
  EXPECT_THAT(ops(graph), ElementsAre("Neg", "Abs", "If"));
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).to_string();
}

TEST(Patch, RefusesOtherTypesAndCycles) {
  Graph graph = parsed(R"(
    graph (%x: float[2]) {
      %a = Neg(%x)
      %b = Abs(%a)
      %c = Exp(%b)
      return %c as "c"
    })");
  const NodeId neg = graph.first_node(), exp = graph.last_node();
  {
    Patch patch(graph, neg, "test");
    patch.redefine(graph.node(neg).outputs[0], patch.op(OpId::Shape, {graph.inputs[0].value}));
    EXPECT_EQ(patch.refusal(), "'a' is float[2], but it would become int64[1]");
  }
  // A product of both ends would have to be there before what it is computed from.
  Patch patch(graph, neg, "test");
  patch.redefine(graph.node(neg).outputs[0], patch.op(OpId::Mul, {graph.inputs[0].value, graph.node(exp).outputs[0]}));
  EXPECT_EQ(patch.refusal(), "one of its operands depends on one of its results");
}

TEST(Patch, MovesLateOperandsBeforeTheFirstReader) {
  Graph graph = parsed(R"(
    %w: float[2] = [1, 2]
    graph (%x: float[2]) {
      %a = Neg(%x)
      %b = Abs(%a)
      %late = Exp(%w)
      %c = Mul(%x, %late)
      return %b as "b", %c as "c"
    })");
  const NodeId neg = graph.first_node();
  const ValueId late = graph.node(graph.last_node()).inputs[1];
  Patch patch(graph, neg, "test");
  patch.redefine(graph.node(neg).outputs[0], patch.op(OpId::Mul, {graph.inputs[0].value, late}));
  ASSERT_TRUE(patch.apply().ok());
  EXPECT_THAT(ops(graph), ElementsAre("Exp", "Mul", "Abs", "Mul"));
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).to_string();
}

TEST(Patch, SharpensFactsDownstream) {
  Graph graph = parsed(R"(
    graph (%x: float[n], %s: int64[1]) {
      %r = Reshape(%x, %s)
      %y = Abs(%r)
      return %y as "y"
    })");
  Patch patch(graph, graph.first_node(), "test");
  patch.redefine(graph.node(graph.first_node()).outputs[0],
                 patch.op(OpId::Reshape, {graph.inputs[0].value, patch.integers({6})}));
  ASSERT_TRUE(patch.apply().ok());
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.to_string(), "float[6]");
}

}  // namespace
}  // namespace tenon
