// Sub-graphs and functions on the way back to ONNX.
#include <gmock/gmock.h>

#include "ir/rewrite.h"
#include "ir/verify.h"
#include "unit/onnx/model_maker.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Attempt skip_identity(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  auto patch = std::make_unique<Patch>(graph, root, "skip_identity");
  patch->forward(node.outputs[0], node.inputs[0]);
  return Attempt::of(std::move(patch));
}

// x + x is 2 * x.
Attempt double_by_product(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  auto patch = std::make_unique<Patch>(graph, root, "double_by_product");
  patch->redefine(node.outputs[0], patch->op(OpId::Mul, {node.inputs[0], patch->scalar(2)}));
  return Attempt::of(std::move(patch));
}

void apply_rules(Graph& graph) {
  const std::vector<Rule> rules = {{"skip_identity", {OpId::Identity}, skip_identity},
                                   {"double_by_product", {OpId::Add}, double_by_product}};
  ChangeLog log;
  ASSERT_TRUE(rewrite(graph, rules, log).ok());
  ASSERT_TRUE(verify(graph).ok()) << verify(graph).to_string();
}

const wire::Graph& body(const wire::Node& node, std::string_view attribute) {
  for (const wire::Attribute& a : node.attributes)
    if (a.name == attribute) return *a.graphs.at(0);
  ADD_FAILURE() << "no attribute " << attribute;
  return *node.attributes.at(0).graphs.at(0);
}

std::shared_ptr<wire::Graph> branch(ModelMaker& maker, std::string_view output, std::vector<wire::Node> nodes) {
  auto graph = std::make_shared<wire::Graph>();
  graph->name = "branch";
  graph->nodes = std::move(nodes);
  graph->outputs.push_back(maker.value(output, {2}));
  return graph;
}

// y = go ? then : Abs(x)
ModelMaker conditional(const std::vector<wire::Node>& before, std::vector<wire::Node> then, std::string_view result) {
  ModelMaker maker(13);
  maker.input("x", {2}).input("go", {}, DType::Bool).output("y", {2});
  maker.graph().nodes = before;
  auto then_branch = branch(maker, result, std::move(then));
  auto else_branch = branch(maker, "e", {maker.make_node("Abs", {"x"}, {"e"})});
  maker.node("If", {"go"}, {"y"},
             {maker.messages.make_graph("then_branch", std::move(then_branch)),
              maker.messages.make_graph("else_branch", std::move(else_branch))},
             "choice");
  return maker;
}

TEST(ExportBodies, LeavesAnUntouchedNodeWithBodiesAsItIs) {
  ModelMaker texts(13);
  ModelMaker maker = conditional({}, {texts.make_node("Neg", {"x"}, {"t"})}, "t");
  maker.node("Add", {"y", "y"}, {"z"}).output("z", {2});
  const auto model = maker.read();
  apply_rules(model->graph);
  const ExportedModel written = exported(*model);
  ASSERT_THAT(written.model.graph.nodes, SizeIs(3));
  EXPECT_EQ(written.model.graph.nodes[1].raw, model->wire.graph.nodes[0].raw);
  EXPECT_EQ(written.model.graph.nodes[2].op_type, "Mul");
}

TEST(ExportBodies, RenamesWhatABodyTakesFromOutside) {
  ModelMaker texts(13);
  const ModelMaker maker =
      conditional({texts.make_node("Identity", {"x"}, {"same"})},
                  {texts.make_node("Neg", {"same"}, {"n"}), texts.make_node("Abs", {"n"}, {"t"})}, "t");
  const auto model = maker.read();
  apply_rules(model->graph);
  const ExportedModel written = exported(*model);
  ASSERT_THAT(written.model.graph.nodes, SizeIs(1));
  const wire::Node& choice = written.model.graph.nodes[0];
  EXPECT_EQ(choice.name, "choice");
  EXPECT_THAT(node_texts(body(choice, "then_branch")), ElementsAre("n = Neg(x)", "t = Abs(n)"));
  EXPECT_THAT(node_texts(body(choice, "else_branch")), ElementsAre("e = Abs(x)"));
  EXPECT_FALSE(body(choice, "then_branch").nodes[1].raw.empty());
  EXPECT_FALSE(body(choice, "else_branch").nodes[0].raw.empty());
}

TEST(ExportBodies, RenamesWhatABodyInsideABodyTakesFromOutside) {
  ModelMaker texts(13);
  auto inner_then = branch(texts, "p", {texts.make_node("Neg", {"same"}, {"p"})});
  auto inner_else = branch(texts, "q", {texts.make_node("Abs", {"x"}, {"q"})});
  const wire::Node inner = texts.make_node("If", {"go"}, {"t"},
                                           {texts.messages.make_graph("then_branch", std::move(inner_then)),
                                            texts.messages.make_graph("else_branch", std::move(inner_else))});
  const ModelMaker maker = conditional({texts.make_node("Identity", {"x"}, {"same"})}, {inner}, "t");
  const auto model = maker.read();
  apply_rules(model->graph);
  const ExportedModel written = exported(*model);
  const wire::Graph& outer = body(written.model.graph.nodes.at(0), "then_branch");
  EXPECT_THAT(node_texts(body(outer.nodes.at(0), "then_branch")), ElementsAre("p = Neg(x)"));
  EXPECT_THAT(node_texts(body(outer.nodes.at(0), "else_branch")), ElementsAre("q = Abs(x)"));
}

TEST(ExportBodies, WritesNewNodesIntoBodies) {
  ModelMaker texts(13);
  const ModelMaker maker =
      conditional({}, {texts.make_node("Neg", {"x"}, {"n"}), texts.make_node("Add", {"n", "n"}, {"t"})}, "t");
  const auto model = maker.read();
  apply_rules(model->graph);
  const ExportedModel written = exported(*model);
  const wire::Node& choice = written.model.graph.nodes.at(0);
  EXPECT_THAT(node_texts(body(choice, "then_branch")),
              ElementsAre("value = Constant() value", "n = Neg(x)", "t = Mul(n, value)"));
  EXPECT_THAT(node_texts(body(choice, "else_branch")), ElementsAre("e = Abs(x)"));
}

// A function f(a) that is called twice: z = f(f(x)).
ModelMaker calls(std::vector<wire::Node> nodes, ModelMaker maker = ModelMaker(13)) {
  maker.input("x", {2}).output("z", {2});
  maker.model().opsets.push_back(maker.messages.make_opset("local", 1));
  wire::Function function;
  function.name = "f";
  function.domain = "local";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.nodes = std::move(nodes);
  function.opsets = {maker.messages.make_opset("", 13)};
  maker.model().functions.push_back(std::move(function));
  maker.node("f", {"x"}, {"y"}, {}, "first", "local").node("f", {"y"}, {"z"}, {}, "second", "local");
  return maker;
}

TEST(ExportBodies, LeavesCallsOfFunctionsAsTheyAre) {
  ModelMaker texts(13);
  const ModelMaker maker = calls({texts.make_node("Neg", {"a"}, {"n"}), texts.make_node("Abs", {"n"}, {"b"})});
  const auto model = maker.read();
  EXPECT_EQ(*wire::write_model(exported(*model).model), model->file);
}

TEST(ExportBodies, WritesChangedFunctionsWhereTheyAreCalled) {
  ModelMaker texts(13);
  const ModelMaker maker = calls({texts.make_node("Neg", {"a"}, {"n"}), texts.make_node("Add", {"n", "n"}, {"b"})});
  const auto model = maker.read();
  apply_rules(model->graph);
  const ExportedModel written = exported(*model);
  EXPECT_THAT(node_texts(written.model.graph), ElementsAre("value = Constant() value", "n = Neg(x)",
                                                           "y = Mul(n, value)", "n_1 = Neg(y)", "z = Mul(n_1, value)"));
}

TEST(ExportBodies, RenamesTheInputsOfCalls) {
  ModelMaker texts(13);
  ModelMaker maker = calls({texts.make_node("Neg", {"a"}, {"b"})});
  maker.graph().nodes.insert(maker.graph().nodes.begin(), maker.make_node("Identity", {"x"}, {"same"}));
  maker.graph().nodes[1].inputs[0] = "same";
  const auto model = maker.read();
  apply_rules(model->graph);
  EXPECT_THAT(node_texts(exported(*model).model.graph), ElementsAre("y = f(x)", "z = f(y)"));
}

TEST(ExportBodies, WritesWhatIsForwardedInsideOfAFunction) {
  ModelMaker texts(13);
  // Mul reads another value now, and the call has no input that could be renamed instead.
  const ModelMaker maker = calls({texts.make_node("Abs", {"a"}, {"c"}), texts.make_node("Identity", {"c"}, {"d"}),
                                  texts.make_node("Mul", {"d", "c"}, {"b"})});
  const auto model = maker.read();
  apply_rules(model->graph);
  EXPECT_THAT(node_texts(exported(*model).model.graph),
              ElementsAre("c = Abs(x)", "y = Mul(c, c)", "c_1 = Abs(y)", "z = Mul(c_1, c_1)"));
}

TEST(ExportBodies, WritesBodiesOfFunctionsWithNamesOfTheirOwn) {
  ModelMaker maker(13);
  auto then_branch = branch(maker, "t", {maker.make_node("Neg", {"a"}, {"n"}), maker.make_node("Abs", {"n"}, {"t"})});
  auto else_branch = branch(maker, "e", {maker.make_node("Relu", {"a"}, {"e"})});
  const wire::Node go = maker.make_node("ReduceMax", {"a"}, {"most"}, {maker.messages.make_int("keepdims", 0)});
  const wire::Node test = maker.make_node("Cast", {"most"}, {"is"}, {maker.messages.make_int("to", 9)});
  const wire::Node choice = maker.make_node("If", {"is"}, {"b"},
                                            {maker.messages.make_graph("then_branch", std::move(then_branch)),
                                             maker.messages.make_graph("else_branch", std::move(else_branch))});
  const ModelMaker model = calls({go, test, choice}, std::move(maker));
  const auto read = model.read();
  const ExportedModel written = exported(*read, {.respell = true});
  EXPECT_THAT(written.kept, IsEmpty());
  EXPECT_THAT(node_texts(written.model.graph),
              ElementsAre("most = ReduceMax(x) keepdims=0", "is = Cast(most) to=9",
                          "y = If(is) else_branch then_branch", "most_1 = ReduceMax(y) keepdims=0",
                          "is_1 = Cast(most_1) to=9", "z = If(is_1) else_branch then_branch"));
  EXPECT_THAT(node_texts(body(written.model.graph.nodes[2], "then_branch")), ElementsAre("n = Neg(x)", "t = Abs(n)"));
  EXPECT_THAT(node_texts(body(written.model.graph.nodes[5], "then_branch")),
              ElementsAre("n_1 = Neg(y)", "t_1 = Abs(n_1)"));
}

}  // namespace
}  // namespace tenon
