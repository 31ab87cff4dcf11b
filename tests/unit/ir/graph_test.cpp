#include "ir/graph.h"

#include <gmock/gmock.h>

#include "ir/builder.h"
#include "ir/infer_readers.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? std::move(*graph) : Graph();
}

const GraphNode& node_of(const Graph& graph, OpId op) {
  for (const GraphNode& node : graph.nodes())
    if (node.op == op) return node;
  throw std::logic_error("no such node");
}

TEST(Graph, KeepsNodesInOrderHoweverManyGoBetween) {
  Graph graph;
  const ValueId x = graph.add_value("x", Type::tensor(DType::Float32, Shape{Dim(2)}));
  graph.inputs.push_back({x, kNone});
  GraphBuilder builder(graph);
  const ValueId y = builder.op(OpId::Relu, {x});
  graph.add_output(y, "y");
  const NodeId last = graph.value(y).producer;
  // Each goes before the last one, so room between neighbours runs out again and again.
  std::vector<NodeId> placed;
  for (int i = 0; i < 200; ++i) {
    GraphNode node;
    node.op = OpId::Neg;
    node.params = default_params(OpId::Neg);
    node.inputs = {x};
    node.outputs = {graph.add_value("", graph.value(x).type)};
    placed.push_back(graph.add_node(std::move(node)));
    graph.place(placed.back(), last);
  }
  for (size_t i = 1; i < placed.size(); ++i) ASSERT_TRUE(graph.is_before(placed[i - 1], placed[i])) << i;
  EXPECT_TRUE(graph.is_before(placed.back(), last));
  EXPECT_EQ(graph.node_count(), 201u);
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).to_string();
}

TEST(Graph, ListsEveryReader) {
  const Graph graph = parsed(R"(
    graph (%x: float[2], %go: bool[]) {
      %a = Neg(%x)
      %b = Add(%a, %a)
      %c = If(%go) graph { return %a as "then" } graph { %d = Neg(%a) return %d as "else" }
      return %a as "a", %b as "b", %c as "c"
    })");
  const ValueId a = node_of(graph, OpId::Neg).outputs[0];
  std::vector<Use::Kind> kinds;
  for (const Use& use : graph.value(a).uses) kinds.push_back(use.kind);
  EXPECT_THAT(kinds, ElementsAre(Use::Kind::Input, Use::Kind::Input, Use::Kind::Capture, Use::Kind::Capture,
                                 Use::Kind::Output));
  EXPECT_TRUE(verify(graph).ok());
}

TEST(Graph, ReplacesEveryReader) {
  Graph graph = parsed(R"(
    graph (%x: float[2], %go: bool[]) {
      %a = Neg(%x)
      %b = Abs(%x)
      %s = Add(%a, %a)
      %c = If(%go) graph { return %a as "then" } graph { return %x as "else" }
      return %a as "a", %s as "s", %c as "c"
    })");
  graph.replace_uses(node_of(graph, OpId::Neg).outputs[0], node_of(graph, OpId::Abs).outputs[0]);
  EXPECT_TRUE(graph.value(node_of(graph, OpId::Neg).outputs[0]).uses.empty());
  EXPECT_TRUE(verify(graph).ok()) << verify(graph).to_string();
  EXPECT_EQ(graph.outputs()[0], node_of(graph, OpId::Abs).outputs[0]);
}

TEST(Graph, ClonesShareNothing) {
  const Graph graph = parsed(R"(
    %w: float[2] = [1, 2]
    graph (%x: float[2], %go: bool[]) {
      %y = If(%go) graph { %a = Mul(%x, %w) return %a as "then" } graph { return %x as "else" }
      return %y as "y"
    })");
  const std::string before = graph_text(graph);
  Graph copy = graph.clone();
  GraphNode& branch = copy.node(copy.first_node());
  GraphBuilder(*branch.bodies[0]).op(OpId::Neg, {branch.bodies[0]->captures[0].inner});
  copy.constants->literal(Tensor::of_ints(std::vector<int64_t>{7}));
  EXPECT_EQ(graph_text(graph), before);
  EXPECT_NE(graph.constants->size(), copy.constants->size());
}

TEST(Graph, EqualLiteralsAreOneValue) {
  Graph graph;
  GraphBuilder builder(graph);
  const ValueId one = builder.integers({1, 2}), other = builder.integers({1, 2}), third = builder.integers({1, 3});
  EXPECT_EQ(one, other);
  EXPECT_NE(one, third);
  // The same elements for two attributes are two things to tell people about.
  EXPECT_NE(builder.scalar(1, "alpha"), builder.scalar(1, "beta"));
}

TEST(Ask, RemembersEveryQuestionAndAnswer) {
  Graph graph;
  const std::vector<float> ones = {1, 1};
  const ValueId v = graph.add_constant(Constant::of("w", Tensor::of<float>({2}, std::span(ones))), "w");
  EXPECT_EQ(graph.ask(v, Property::equal_to(1), "one rule"), Answer::Yes);
  EXPECT_EQ(graph.ask(v, {Property::Kind::AllZero}, "one rule"), Answer::No);
  EXPECT_EQ(graph.ask(v, {Property::Kind::AllZero}, "another rule"), Answer::No);
  EXPECT_EQ(graph.ask(v, {Property::Kind::AllZero}, "one rule"), Answer::No);
  const auto& asked = graph.constant(v)->asked;
  ASSERT_EQ(asked.size(), 3u) << "each question is remembered once";
  EXPECT_EQ(asked[0].property, Property::equal_to(1));
  EXPECT_EQ(asked[0].answer, Answer::Yes);
  EXPECT_EQ(asked[1].answer, Answer::No);
  EXPECT_EQ(asked[2].asker, "another rule");
}

TEST(Ask, NothingIsKnownOfLargeAndOtherValues) {
  Graph graph;
  const std::vector<float> many(kMostAskedBytes / 4 + 1, 1.0f);
  const ValueId large = graph.add_constant(
      Constant::of("w", Tensor::of<float>({static_cast<int64_t>(many.size())}, std::span(many))), "w");
  EXPECT_EQ(graph.ask(large, Property::equal_to(1), "a rule"), Answer::Unknown);
  EXPECT_TRUE(graph.constant(large)->asked.empty());
  const ValueId input = graph.add_value("x", Type::tensor(DType::Float32, Shape{}));
  EXPECT_EQ(graph.ask(input, Property::equal_to(1), "a rule"), Answer::Unknown);
}

// A factor that is one at the beginning of a training must stay replaceable.
TEST(Ask, RulesThatRemoveNothingsAskTheModelAlone) {
  Graph graph;
  const float one = 1;
  const Tensor scalar = Tensor::of<float>({}, std::span(&one, 1));
  Constant node = Constant::of("constant", scalar);
  node.from_node = true;
  const ValueId weight = graph.add_constant(Constant::of("alpha", scalar), "alpha"),
                constant = graph.add_constant(node, "constant"), literal = GraphBuilder(graph).literal(scalar);
  EXPECT_EQ(graph.ask_fixed(weight, Property::equal_to(1), "a rule"), Answer::Unknown);
  EXPECT_TRUE(graph.constant(weight)->asked.empty());
  EXPECT_EQ(graph.ask_fixed(constant, Property::equal_to(1), "a rule"), Answer::Yes);
  EXPECT_EQ(graph.constant(constant)->asked.size(), 1u);
  EXPECT_EQ(graph.ask_fixed(literal, Property::equal_to(1), "a rule"), Answer::Yes);
  EXPECT_TRUE(graph.constant(literal)->asked.empty()) << "a literal is part of the plan anyway";
}

TEST(Symbols, StayWhenTheyAreInferredAnew) {
  Graph graph = parsed(R"(
    graph (%x: float[n, 4]) {
      %i = NonZero(%x)
      %t = Transpose(%i)
      %u = Unique(%x)
      %s = Add(%u, %u)
      return %t as "t", %s as "s"
    })");
  const std::string before = graph_text(graph);
  std::vector<std::string> types;
  for (const GraphValue& value : graph.values()) types.push_back(value.type.to_string());
  const int symbols = graph.constants->symbols();
  ASSERT_TRUE(infer_graph(graph).ok());
  ASSERT_TRUE(infer_graph(graph).ok());
  EXPECT_EQ(graph_text(graph), before);
  EXPECT_EQ(graph.constants->symbols(), symbols);
  size_t i = 0;
  for (const GraphValue& value : graph.values()) EXPECT_EQ(value.type.to_string(), types[i++]);
}

TEST(Verify, NamesWhatIsWrong) {
  const char* text = R"(
    graph (%x: float[2]) {
      %a = Neg(%x)
      %b = Abs(%a)
      return %b as "b"
    })";
  const auto wrong = [&](const std::function<void(Graph&)>& damage, std::string_view message) {
    Graph graph = parsed(text);
    damage(graph);
    const Status status = verify(graph);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.to_string().find(message), std::string::npos) << status.to_string();
  };
  wrong([](Graph& g) { g.move(g.last_node(), g.first_node()); }, "before it is produced");
  wrong([](Graph& g) { g.node(g.last_node()).inputs[0] = g.inputs[0].value; }, "readers");
  wrong([](Graph& g) { g.value(g.outputs()[0]).type = Type::tensor(DType::Int64, Shape{Dim(2)}); }, "inference gives");
  wrong([](Graph& g) { g.node(g.last_node()).outputs[0] = g.inputs[0].value; }, "definitions");
  wrong([](Graph& g) { g.remove(g.first_node()); }, "definitions");
  wrong([](Graph& g) { g.value(g.outputs()[0]).folds = true; }, "weights alone");
}

}  // namespace
}  // namespace tenon
