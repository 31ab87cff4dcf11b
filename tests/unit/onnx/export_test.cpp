#include <gmock/gmock.h>

#include <set>

#include "ir/patch.h"
#include "ir/verify.h"
#include "ops/concat.h"
#include "unit/onnx/model_maker.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string_view> raws(const wire::Graph& graph) {
  std::vector<std::string_view> found;
  for (const wire::Node& node : graph.nodes) found.push_back(node.raw);
  return found;
}

// Readers of a node's first result read its first input.
void skip(Graph& graph, NodeId node) {
  Patch patch(graph, node, "skip");
  patch.forward(graph.node(node).outputs[0], graph.node(node).inputs[0]);
  const auto change = patch.apply();
  ASSERT_TRUE(change.ok()) << change.status().to_string();
  ASSERT_TRUE(verify(graph).ok()) << verify(graph).to_string();
}

// Another op makes the node's first result from the same inputs.
void replace(Graph& graph, NodeId node, OpId op) {
  Patch patch(graph, node, "replace");
  patch.redefine(graph.node(node).outputs[0], patch.op(op, graph.node(node).inputs));
  const auto change = patch.apply();
  ASSERT_TRUE(change.ok()) << change.status().to_string();
  ASSERT_TRUE(verify(graph).ok()) << verify(graph).to_string();
}

TEST(Export, WritesUntouchedNodesToTheByte) {
  ModelMaker maker(13);
  maker.input("x", {2, 3}).output("y", {2, 3}).initializer<int64_t>("axes", {1}, {1});
  maker.node("ReduceSum", {"x", "axes"}, {"s"}, {maker.messages.make_int("keepdims", 1)}, "sum")
      .node("Identity", {"x"}, {"unused"})
      .node("Sub", {"x", "s"}, {"y"});
  const auto model = maker.read();
  const ExportedModel written = exported(*model);
  EXPECT_EQ(raws(written.model.graph), raws(model->wire.graph));
  EXPECT_EQ(*wire::write_model(written.model), model->file);
  EXPECT_EQ(written.respelled, 0u);
}

TEST(Export, RenamesTheInputsOfReadersWhenANodeIsSkipped) {
  ModelMaker maker(13);
  maker.input("x", {2}).output("y", {2});
  maker.node("Abs", {"x"}, {"a"})
      .node("Identity", {"a"}, {"b"})
      .node("LeakyRelu", {"b"}, {"c"}, {maker.messages.make_float("alpha", 0.25f)}, "leaky")
      .node("Neg", {"c"}, {"y"});
  const auto model = maker.read();
  skip(model->graph, find_op(model->graph, OpId::Identity));
  const ExportedModel written = exported(*model);
  EXPECT_THAT(node_texts(written.model.graph), ElementsAre("a = Abs(x)", "c = LeakyRelu(a) alpha=0.25", "y = Neg(c)"));
  EXPECT_EQ(written.model.graph.nodes[0].raw, model->wire.graph.nodes[0].raw);
  EXPECT_EQ(written.model.graph.nodes[1].name, "leaky");
  EXPECT_EQ(written.model.graph.nodes[2].raw, model->wire.graph.nodes[3].raw);
}

TEST(Export, WritesNewNodesBetweenOldOnes) {
  ModelMaker maker(13);
  maker.input("x", {2}).output("y", {2});
  maker.node("Abs", {"x"}, {"a"}).node("Add", {"a", "a"}, {"sum"}, {}, "double").node("Neg", {"sum"}, {"y"});
  const auto model = maker.read();
  Graph& graph = model->graph;
  const NodeId add = find_op(graph, OpId::Add);
  {
    Patch patch(graph, add, "double_by_product");
    patch.redefine(graph.node(add).outputs[0], patch.op(OpId::Mul, {graph.node(add).inputs[0], patch.scalar(2)}));
    ASSERT_TRUE(patch.apply().ok());
  }
  const ExportedModel written = exported(*model);
  EXPECT_THAT(node_texts(written.model.graph),
              ElementsAre("value = Constant() value", "a = Abs(x)", "sum = Mul(a, value)", "y = Neg(sum)"));
  EXPECT_EQ(written.model.graph.nodes[1].raw, model->wire.graph.nodes[0].raw);
  EXPECT_EQ(written.model.graph.nodes[2].name, "double");
  EXPECT_EQ(written.model.graph.nodes[3].raw, model->wire.graph.nodes[2].raw);
}

// Version 1 of Tile takes its numbers as inputs, which reading turns into one list.
ModelMaker tiles_of_version_1() {
  ModelMaker maker(5);
  maker.input("x", {2, 2}).output("y", {2, 6}).output("z", {2, 2});
  maker.initializer<int64_t>("tiles", {1}, {3}).initializer<int64_t>("axis", {1}, {1});
  maker.initializer<float>("spare", {1}, {0});
  maker.node("Tile", {"x", "tiles", "axis"}, {"y"}).node("Abs", {"x"}, {"z"});
  return maker;
}

std::vector<std::string_view> initializer_names(const ExportedModel& model) {
  std::vector<std::string_view> names;
  for (const wire::TensorProto& tensor : model.model.graph.initializers) names.push_back(tensor.name);
  return names;
}

TEST(Export, KeepsInitializersThatOnlyANodeAsReadNeeds) {
  const ModelMaker maker = tiles_of_version_1();
  const auto model = maker.read();
  replace(model->graph, find_op(model->graph, OpId::Abs), OpId::Relu);
  const ExportedModel written = exported(*model);
  EXPECT_THAT(node_texts(written.model.graph), ElementsAre("y = Tile(x, tiles, axis)", "z = Relu(x)"));
  EXPECT_THAT(initializer_names(written), ElementsAre("tiles", "axis", "spare"));
}

TEST(Export, DropsInitializersThatNoNodeReadsAnyMore) {
  const ModelMaker maker = tiles_of_version_1();
  const auto model = maker.read();
  Graph& graph = model->graph;
  const NodeId tile = find_op(graph, OpId::Tile);
  {
    Patch patch(graph, tile, "concatenate");
    const ValueId x = graph.node(tile).inputs[0];
    patch.redefine(graph.node(tile).outputs[0], patch.op(OpId::Concat, {x, x, x}, Params::of(ConcatParams{1})));
    ASSERT_TRUE(patch.apply().ok());
  }
  const ExportedModel written = exported(*model);
  EXPECT_THAT(node_texts(written.model.graph), ElementsAre("y = Concat(x, x, x) axis=1", "z = Abs(x)"));
  // Nothing read the spare one before, so it is not the rewriting that made it needless.
  EXPECT_THAT(initializer_names(written), ElementsAre("spare"));
}

TEST(Export, GivesAnOutputOfTheGraphTheNameThatAnotherValueHad) {
  ModelMaker maker(13);
  maker.input("x", {4}).output("low", {2}).output("high", {2}).initializer<int64_t>("sizes", {2}, {2, 2});
  maker.node("Split", {"x", "sizes"}, {"low", "high"}).node("Neg", {"low"}, {"minus"}).node("Abs", {"minus"}, {"abs"});
  const auto model = maker.read();
  Graph& graph = model->graph;
  const NodeId split = find_op(graph, OpId::Split);
  {
    Patch patch(graph, split, "forward");
    patch.forward(graph.node(split).outputs[1], graph.node(find_op(graph, OpId::Abs)).outputs[0]);
    ASSERT_TRUE(patch.apply().ok());
  }
  const ExportedModel written = exported(*model);
  EXPECT_THAT(node_texts(written.model.graph),
              ElementsAre("low, high_1 = Split(x, sizes)", "minus = Neg(low)", "high = Abs(minus)"));
}

TEST(Export, MakesNamesThatAreNotTaken) {
  ModelMaker maker(13);
  maker.input("x", {2}).output("y", {2}).output("value", {2});
  maker.node("Add", {"x", "x"}, {"y"}, {}, "n").node("Neg", {"x"}, {"value"}, {}, "n_1");
  const auto model = maker.read();
  Graph& graph = model->graph;
  const NodeId add = find_op(graph, OpId::Add);
  {
    Patch patch(graph, add, "by_steps");
    const ValueId abs = patch.op(OpId::Abs, {graph.node(add).inputs[0]});
    patch.redefine(graph.node(add).outputs[0], patch.op(OpId::Mul, {abs, patch.op(OpId::Neg, {abs})}));
    ASSERT_TRUE(patch.apply().ok());
  }
  const ExportedModel written = exported(*model);
  std::set<std::string_view> values, nodes;
  for (const wire::Node& node : written.model.graph.nodes) {
    EXPECT_TRUE(nodes.insert(node.name).second) << node.name;
    for (wire::Bytes output : node.outputs) EXPECT_TRUE(values.insert(output).second) << output;
  }
  EXPECT_EQ(written.model.graph.nodes.size(), 4u);
  EXPECT_TRUE(values.contains("y") && values.contains("value"));
}

TEST(Export, NamesOutputsThatOnnxDemands) {
  ModelMaker maker(13);
  maker.input("x", {4}).output("y", {2}).initializer<int64_t>("sizes", {2}, {2, 2}).initializer<int64_t>("k", {1}, {2});
  maker.node("Split", {"x", "sizes"}, {"y", ""}).node("TopK", {"x", "k"}, {"most", ""}).output("most", {2});
  const auto model = maker.read();
  Graph& graph = model->graph;
  const NodeId split = find_op(graph, OpId::Split), top = find_op(graph, OpId::TopK);
  {
    Patch patch(graph, split, "take_the_largest");
    patch.redefine(graph.node(split).outputs[0], patch.op(OpId::TopK, graph.node(top).inputs));
    ASSERT_TRUE(patch.apply().ok());
  }
  EXPECT_THAT(node_texts(exported(*model).model.graph), ElementsAre("y, Split->y = TopK(x, k)", "most,  = TopK(x, k)"));
}

TEST(Export, DropsWhatWasDeclaredOfValuesThatAreGone) {
  ModelMaker maker(13);
  maker.input("x", {2}).output("y", {2});
  maker.node("Identity", {"x"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Abs", {"b"}, {"y"});
  maker.graph().value_infos = {maker.value("a", {2}), maker.value("b", {2})};
  const auto model = maker.read();
  skip(model->graph, find_op(model->graph, OpId::Identity));
  const ExportedModel written = exported(*model);
  ASSERT_EQ(written.model.graph.value_infos.size(), 1u);
  EXPECT_EQ(written.model.graph.value_infos[0].name, "b");
}

TEST(Export, NamesEveryNodeThatTheVersionsCannotExpress) {
  ModelMaker maker(13);
  maker.input("x", {2}).output("y", {2}).output("z", {2});
  maker.node("Abs", {"x"}, {"y"}).node("Neg", {"x"}, {"z"});
  const auto model = maker.read();
  for (OpId op : {OpId::Abs, OpId::Neg}) replace(model->graph, find_op(model->graph, op), OpId::Gelu);
  const auto refused = export_model(*model, model->graph);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().to_string(), HasSubstr("cannot express: Gelu 'Abs->y', Gelu 'Neg->z'"));
}

TEST(Export, KeepsAsReadWhatHasNoWayBackWhenEverythingIsRespelled) {
  ModelMaker maker(13);
  maker.input("x", {2}).output("y", {2});
  maker.model().opsets.push_back(maker.messages.make_opset("my.domain", 3));
  maker.node("Mystery", {"x"}, {"m"}, {maker.messages.make_int("depth", 3)}, "", "my.domain").node("Neg", {"m"}, {"y"});
  const auto model = maker.read();
  const ExportedModel written = exported(*model, {.respell = true});
  EXPECT_THAT(written.kept, ElementsAre("my.domain.Mystery (version 3): Unsupported"));
  EXPECT_EQ(written.respelled, 1u);
  EXPECT_THAT(node_texts(written.model.graph), ElementsAre("m = Mystery(x) depth=3", "y = Neg(m)"));
  EXPECT_EQ(written.model.graph.nodes[0].raw, model->wire.graph.nodes[0].raw);
  EXPECT_TRUE(written.model.graph.nodes[1].raw.empty());
}

// A pool whose input may have any rank; import notes that it must be an image.
std::shared_ptr<ImportedModel> pool_of_open_rank() {
  ModelMaker maker(13);
  maker.input("x", {}).output("y", {});
  maker.graph().inputs[0].type.shape.reset();
  maker.graph().outputs[0].type.shape.reset();
  maker.model().opsets.push_back(maker.messages.make_opset("com.microsoft", 1));
  const int64_t window[] = {2, 2};
  maker.node("NhwcMaxPool", {"x"}, {"p"}, {maker.messages.make_ints("kernel_shape", window)}, "", "com.microsoft")
      .node("Neg", {"p"}, {"y"});
  return maker.read();
}

TEST(Export, WritesNoNodeForRequiredShapes) {
  const auto model = pool_of_open_rank();
  const auto ops = [&] {
    std::vector<OpId> found;
    for (const GraphNode& node : model->graph.nodes()) found.push_back(node.op);
    return found;
  };
  ASSERT_THAT(ops(), ElementsAre(OpId::RequireShapes, OpId::Einsum, OpId::MaxPool, OpId::Einsum, OpId::Neg));
  ASSERT_TRUE(verify(model->graph).ok()) << verify(model->graph).to_string();
  EXPECT_EQ(*wire::write_model(exported(*model).model), model->file);
  // Only the ONNX node itself states them, so it stays, and not for want of a form; a node that a rule took apart goes
  // without.
  const ExportedModel respelled = exported(*model, {.respell = true});
  EXPECT_THAT(respelled.kept, IsEmpty());
  EXPECT_EQ(respelled.respelled, 1u);
  skip(model->graph, model->graph.node_ids()[1]);
  EXPECT_THAT(node_texts(exported(*model).model.graph),
              ElementsAre(HasSubstr("MaxPool(x)"), HasSubstr("Einsum("), HasSubstr("Neg(")));
}

}  // namespace
}  // namespace tenon
