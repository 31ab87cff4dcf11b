// Nodes in the versions that the model imports.
#include <gmock/gmock.h>

#include "ir/patch.h"
#include "unit/onnx/model_maker.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Every node written anew.
std::vector<std::string> respelled(const ModelMaker& maker) {
  const ExportedModel written = exported(*maker.read(), {.respell = true});
  EXPECT_THAT(written.kept, IsEmpty());
  for (const wire::Node& node : written.model.graph.nodes) EXPECT_TRUE(node.raw.empty());
  return node_texts(written.model.graph);
}

TEST(Spelling, LeavesDefaultsOut) {
  ModelMaker maker(13);
  maker.input("x", {2, 3}).output("y", {2, 3});
  maker.node("Softmax", {"x"}, {"y"}, {maker.messages.make_int("axis", -1)});
  EXPECT_THAT(respelled(maker), ElementsAre("y = Softmax(x)"));
}

TEST(Spelling, WritesRequiredAttributesEvenWithTheValueOfADefault) {
  ModelMaker maker(13);
  maker.input("x", {2, 3}).output("y", {4, 3});
  maker.node("Concat", {"x", "x"}, {"y"}, {maker.messages.make_int("axis", 0)});
  EXPECT_THAT(respelled(maker), ElementsAre("y = Concat(x, x) axis=0"));
}

TEST(Spelling, WritesLimitsAsAttributesInOldVersions) {
  ModelMaker maker(6);
  maker.input("x", {2}).output("y", {2});
  maker.node("Clip", {"x"}, {"y"}, {maker.messages.make_float("min", -1), maker.messages.make_float("max", 2.5f)});
  EXPECT_THAT(respelled(maker), ElementsAre("y = Clip(x) max=2.5 min=-1"));
}

TEST(Spelling, WritesLimitsAsInputsInNewVersions) {
  ModelMaker maker(13);
  maker.input("x", {2}).output("y", {2}).initializer<float>("low", {}, {-1});
  maker.node("Clip", {"x", "low"}, {"y"});
  EXPECT_THAT(respelled(maker), ElementsAre("y = Clip(x, low)"));
}

TEST(Spelling, WritesAxesByVersion) {
  ModelMaker old(11);
  old.input("x", {2, 3}).output("y", {2, 1});
  old.node("ReduceSum", {"x"}, {"y"}, {old.messages.make_ints("axes", std::vector<int64_t>{1})});
  EXPECT_THAT(respelled(old), ElementsAre("y = ReduceSum(x) axes=[1]"));
  ModelMaker recent(13);
  recent.input("x", {2, 3}).output("y", {2, 1}).initializer<int64_t>("axes", {1}, {1});
  recent.node("ReduceSum", {"x", "axes"}, {"y"});
  EXPECT_THAT(respelled(recent), ElementsAre("y = ReduceSum(x, axes)"));
}

TEST(Spelling, WritesTypesAsWordsInTheFirstVersions) {
  ModelMaker maker(5);
  maker.input("x", {2}).output("y", {2}, DType::Int32);
  maker.node("Cast", {"x"}, {"y"}, {maker.messages.make_string("to", "INT32")});
  EXPECT_THAT(respelled(maker), ElementsAre("y = Cast(x) to='INT32'"));
}

TEST(Spelling, WritesEnlargingByVersion) {
  const std::vector<float> scales{1, 1, 2, 3};
  ModelMaker first(6);
  first.input("x", {1, 1, 2, 2}).output("y", {1, 1, 4, 6});
  first.node("Upsample", {"x"}, {"y"},
             {first.messages.make_string("mode", "bilinear"), first.messages.make_float("height_scale", 2),
              first.messages.make_float("width_scale", 3)});
  EXPECT_THAT(respelled(first), ElementsAre("y = Upsample(x) height_scale=2 mode='bilinear' width_scale=3"));
  ModelMaker seventh(7);
  seventh.input("x", {1, 1, 2, 2}).output("y", {1, 1, 4, 6});
  seventh.node("Upsample", {"x"}, {"y"}, {seventh.messages.make_floats("scales", scales)});
  EXPECT_THAT(respelled(seventh), ElementsAre("y = Upsample(x) mode='nearest' scales=[1, 1, 2, 3]"));
  for (const auto& [version, op] : {std::pair(9, "Upsample"), std::pair(10, "Resize")}) {
    ModelMaker maker(version);
    maker.input("x", {1, 1, 2, 2}).output("y", {1, 1, 4, 6}).initializer<float>("scales", {4}, scales);
    maker.node(op, {"x", "scales"}, {"y"}, {maker.messages.make_string("mode", "linear")});
    EXPECT_THAT(respelled(maker), ElementsAre(fmt::format("y = {}(x, scales) mode='linear'", op)));
  }
}

TEST(Spelling, WritesWeightsOfClassicalModelsAsAttributes) {
  ModelMaker maker(13, 3);
  maker.input("x", {1, 2}).output("y", {1, 2});
  maker.node("Scaler", {"x"}, {"y"},
             {maker.messages.make_floats("offset", std::vector<float>{1, 2}),
              maker.messages.make_floats("scale", std::vector<float>{0.5f, 4})},
             "scale", "ai.onnx.ml");
  EXPECT_THAT(respelled(maker), ElementsAre("y = Scaler(x) offset=[1, 2] scale=[0.5, 4]"));
}

TEST(Spelling, WritesTreesAsTheTableOfTheirVersion) {
  ModelMaker maker(13, 3);
  maker.input("x", {1, 2}).output("y", {1, 1});
  wire::MessageBuilder& m = maker.messages;
  const auto ints = [&](const char* name, std::vector<int64_t> values) { return m.make_ints(name, values); };
  // Tree 7 asks for feature 1; tree 3 is a leaf.
  maker.node(
      "TreeEnsembleRegressor", {"x"}, {"y"},
      {ints("nodes_treeids", {7, 7, 7, 3}), ints("nodes_nodeids", {5, 6, 8, 0}), ints("nodes_featureids", {1, 0, 0, 0}),
       ints("nodes_truenodeids", {8, 0, 0, 0}), ints("nodes_falsenodeids", {6, 0, 0, 0}),
       m.make_strings("nodes_modes", std::vector<std::string>{"BRANCH_LT", "LEAF", "LEAF", "LEAF"}),
       m.make_floats("nodes_values", std::vector<float>{0.5f, 0, 0, 0}), ints("target_ids", {0, 0, 0}),
       ints("target_treeids", {3, 7, 7}), ints("target_nodeids", {0, 6, 8}),
       m.make_floats("target_weights", std::vector<float>{1, 2, 3})},
      "trees", "ai.onnx.ml");
  // Node ids are the rows now.
  EXPECT_THAT(respelled(maker),
              ElementsAre("y = TreeEnsembleRegressor(x) aggregate_function='SUM' n_targets=1 "
                          "nodes_falsenodeids=[1, 0, 0, 0] nodes_featureids=[1, 0, 0, 0] "
                          "nodes_modes=[BRANCH_LT, LEAF, LEAF, LEAF] nodes_nodeids=[0, 1, 2, 3] "
                          "nodes_treeids=[0, 0, 0, 1] nodes_truenodeids=[2, 0, 0, 0] nodes_values=[0.5, 0, 0, 0] "
                          "post_transform='NONE' target_ids=[0, 0, 0] target_nodeids=[3, 1, 2] "
                          "target_treeids=[1, 0, 0] target_weights=[1, 2, 3]"));
}

TEST(Spelling, WritesEachNodeThatOneBecame) {
  ModelMaker maker(6);
  maker.input("x", {2, 3, 4}).input("b", {3}).output("y", {2, 3, 4});
  wire::MessageBuilder& m = maker.messages;
  maker.node("Add", {"x", "b"}, {"y"}, {m.make_int("broadcast", 1), m.make_int("axis", 1)}, "sum");
  const ExportedModel written = exported(*maker.read(), {.respell = true});
  ASSERT_EQ(written.model.graph.nodes.size(), 2u);
  EXPECT_EQ(written.model.graph.nodes[0].op_type, "Unsqueeze");
  EXPECT_EQ(written.model.graph.nodes[0].name, "sum");
  EXPECT_EQ(written.model.graph.nodes[1].op_type, "Add");
  EXPECT_EQ(written.model.graph.nodes[1].name, "sum_1");
  EXPECT_EQ(written.model.graph.nodes[1].outputs[0], "y");
}

// Before version 13 it becomes Flatten, Softmax, Shape and Reshape. The last one is written as what was read, and
// covers the others. A Reshape that keeps extents of 0 has no other form there.
TEST(Spelling, CoversTheNodesBeforeOne) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    ModelMaker maker(11);
    maker.input("x", {2, 0, 4}).output("y", {2, 0, 4});
    maker.node(op, {"x"}, {"y"}, {maker.messages.make_int("axis", 1)}, "soft");
    const auto model = maker.read();
    EXPECT_EQ(model->graph.node_count(), 4u);
    EXPECT_THAT(respelled(maker), ElementsAre(std::string("y = ") + op + "(x) axis=1"));
  }
}

TEST(Spelling, WritesCoveredNodesThatSomethingElseReads) {
  ModelMaker maker(11);
  maker.input("x", {2, 3, 4}).output("y", {2, 3, 4}).output("z", {2, 12});
  maker.node("Softmax", {"x"}, {"y"}, {maker.messages.make_int("axis", 1)}, "soft");
  maker.node("Flatten", {"x"}, {"z"}, {maker.messages.make_int("axis", 1)}, "flat");
  const auto model = maker.read();
  Graph& graph = model->graph;
  std::vector<NodeId> flattened;
  for (const GraphNode& node : graph.nodes())
    if (node.op == OpId::Flatten) flattened.push_back(node.id);
  ASSERT_EQ(flattened.size(), 2u);
  Patch patch(graph, flattened[1], "share_equal_nodes");
  patch.forward(graph.node(flattened[1]).outputs[0], graph.node(flattened[0]).outputs[0]);
  ASSERT_TRUE(patch.apply().ok());
  const ExportedModel written = exported(*model, {.respell = true});
  const auto ops_of = [](const ExportedModel& exported) {
    std::vector<std::string_view> ops;
    for (const wire::Node& node : exported.model.graph.nodes) ops.push_back(node.op_type);
    return ops;
  };
  EXPECT_THAT(ops_of(written), testing::UnorderedElementsAre("Flatten", "Softmax"));
  EXPECT_THAT(written.kept, IsEmpty());
  // Without being asked to, too: what is inside of a node that is written as it was read has no name in the file.
  EXPECT_THAT(ops_of(exported(*model, {})), testing::UnorderedElementsAre("Flatten", "Softmax"));
}

TEST(Spelling, AvoidsNamesThatMeanAFunctionOfTheModel) {
  ModelMaker maker(13);
  maker.input("x", {2}).output("y", {2});
  wire::Function function;
  function.name = "Neg";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.nodes = {maker.make_node("Abs", {"a"}, {"b"})};
  function.opsets = {maker.messages.make_opset("", 13)};
  maker.model().functions.push_back(std::move(function));
  maker.node("Neg", {"x"}, {"y"});
  const auto model = maker.read();
  EXPECT_THAT(node_texts(exported(*model).model.graph), ElementsAre("y = Neg(x)"));
  EXPECT_THAT(node_texts(exported(*model, {.respell = true}).model.graph), ElementsAre("y = Abs(x)"));
}

}  // namespace
}  // namespace tenon
