#include "ir/provenance.h"

#include <gmock/gmock.h>

#include "ir/rewrite.h"
#include "ir/text.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

Provenance from(std::initializer_list<std::string_view> rules, std::initializer_list<std::string_view> nodes) {
  Provenance p;
  for (std::string_view rule : rules) p.add_rule(rule);
  for (std::string_view name : nodes) p.add_node(name);
  return p;
}

TEST(Provenance, NamesRulesAndNodesOnceInTheirOrder) {
  EXPECT_EQ(from({"one", "two", "one"}, {"b", "a", "", "b"}).to_text(), "one, two from b, a");
}

TEST(Provenance, IsReadFromItsText) {
  for (const auto& p :
       {from({"one"}, {"a"}), from({"one", "two"}, {"a and b", "c, d", " from e"}), from({"one"}, {})}) {
    const auto again = Provenance::parse(p.to_text());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->to_text(), p.to_text());
  }
  EXPECT_FALSE(Provenance::parse("anything"));
}

TEST(Provenance, StaysShortAndCountsTheRest) {
  Provenance p;
  p.add_rule("one");
  for (int i = 0; i < 1000; ++i) p.add_node("node " + std::to_string(i));
  EXPECT_EQ(p.nodes.size() + p.more, 1000u);
  EXPECT_LT(p.to_text().size(), 1100u);
  const auto again = Provenance::parse(p.to_text());
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, p);
  Provenance longer;
  longer.add_node(std::string(5000, 'x'));
  EXPECT_EQ(longer.to_text(), " from  and 1 more");
}

TEST(Provenance, OfNodesThatAreReplacedAgainNamesThoseOfTheFile) {
  auto graph = parse_graph(R"(
    graph (%x: float[4]) {
      %a = Sigmoid(%x)
      %b = Mul(%x, %a)
      return %b as "y"
    })");
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  for (GraphNode& node : graph->nodes()) node.name = op_def(node.op).name;
  const auto replaced_by = [](std::string_view rule, OpId root, OpId op) {
    return Rule{rule, {root}, [=](Graph& g, NodeId id) {
                  auto patch = std::make_unique<Patch>(g, id, rule);
                  patch->redefine(g.node(id).outputs[0], patch->op(op, {g.inputs[0].value}));
                  return Attempt::of(std::move(patch));
                }};
  };
  ChangeLog log;
  const Rule rules[] = {replaced_by("first", OpId::Mul, OpId::Tanh), replaced_by("second", OpId::Tanh, OpId::Relu)};
  ASSERT_TRUE(rewrite(*graph, rules, log).ok());
  const GraphNode& last = graph->node(graph->last_node());
  ASSERT_TRUE(last.made_from);
  EXPECT_THAT(last.made_from->rules, ElementsAre("first", "second"));
  EXPECT_THAT(last.made_from->nodes, ElementsAre("Mul", "Sigmoid"));
}

}  // namespace
}  // namespace tenon
