#include "trials/inputs/random_inputs.h"

#include <gmock/gmock.h>

#include "ops/cast.h"
#include "ops/gather.h"
#include "ops/ml_labels.h"
#include "support/small_graph.h"

namespace tenon {
namespace {

using test::elements;
using test::SmallGraph;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsSubsetOf;
using testing::Le;

const Dim n = Dim::symbol("n");

std::vector<Value> draw(const SmallGraph& g, RandomInputOptions options = {}) {
  auto made = random_inputs(g.graph, options, std::vector<Value>(g.graph.inputs.size()));
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return made.ok() ? *made : std::vector<Value>{};
}
RandomInputOptions with_n(int64_t value) {
  RandomInputOptions options;
  options.dims["n"] = value;
  return options;
}
template <class T>
std::set<T> drawn(const SmallGraph& g, size_t input = 0) {
  const auto values = elements<T>(draw(g, with_n(200))[input]);
  return {values.begin(), values.end()};
}
Params cast_to(DType dtype) {
  CastParams params;
  params.to = dtype;
  return Params::of(params);
}

TEST(RandomInputs, IndicesCoverTheTableAndNoMore) {
  SmallGraph g;
  const ValueId ids = g.input("ids", DType::Int64, Shape{n});
  g.output("y", g.node(OpId::Gather, {g.weight<float>("table", {3, 1}, {1, 2, 3}), ids}));
  EXPECT_THAT(drawn<int64_t>(g), ElementsAre(0, 1, 2));
}

TEST(RandomInputs, IndicesThroughOtherNodes) {
  // table[2 * (1 - cast(x)) + 4], so x is in -1 to 3 for a table of nine.
  SmallGraph g;
  const ValueId x = g.input("x", DType::Int32, Shape{n});
  const ValueId wide = g.node(OpId::Cast, {x}, cast_to(DType::Int64));
  const ValueId turned = g.node(OpId::Sub, {g.weight<int64_t>("one", {}, {1}), wide});
  const ValueId doubled = g.node(OpId::Mul, {turned, g.weight<int64_t>("two", {}, {2})});
  const ValueId moved = g.node(OpId::Add, {g.weight<int64_t>("four", {1}, {4}), doubled});
  g.output("y", g.node(OpId::Gather, {g.weight<float>("table", {9}, std::vector<float>(9)), moved}));
  EXPECT_THAT(drawn<int32_t>(g), ElementsAre(-1, 0, 1, 2, 3));
}

TEST(RandomInputs, TheTighterConsumerCounts) {
  SmallGraph g;
  const ValueId ids = g.input("ids", DType::Int64, Shape{n});
  g.output("y", g.node(OpId::Gather, {g.weight<float>("large", {9}, std::vector<float>(9)), ids}));
  g.output("z", g.node(OpId::Gather, {g.weight<float>("small", {2}, std::vector<float>(2)), ids}));
  EXPECT_THAT(drawn<int64_t>(g), ElementsAre(0, 1));
}

TEST(RandomInputs, ExtentsOfInputsBoundIndices) {
  SmallGraph g;
  const ValueId data = g.input("data", DType::Float32, Shape{Dim(2), Dim::symbol("m")});
  const ValueId ids = g.input("ids", DType::Int64, Shape{n});
  GatherParams params;
  params.axis = 1;
  g.output("y", g.node(OpId::Gather, {data, ids}, Params::of(params)));
  RandomInputOptions options = with_n(100);
  options.shapes["data"] = {2, 4};
  EXPECT_THAT(elements<int64_t>(draw(g, options)[1]), Each(testing::AllOf(Ge(0), Le(3))));
}

TEST(RandomInputs, NumbersSuitTheFunctions) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n}), y = g.input("y", DType::Float32, Shape{n});
  const ValueId k = g.input("k", DType::Int32, Shape{n}), mask = g.input("mask", DType::Int64, Shape{n});
  g.output("log", g.node(OpId::Log, {x}));
  g.output("any", g.node(OpId::Relu, {y}));
  g.output("quotient", g.node(OpId::Div, {k, k}));
  const ValueId opposite =
      g.node(OpId::Sub, {g.weight<float>("one", {}, {1}), g.node(OpId::Cast, {mask}, cast_to(DType::Float32))});
  g.output("mask", opposite);
  const auto values = draw(g, with_n(100));
  EXPECT_THAT(elements<float>(values[0]), Each(Ge(0.01f)));
  EXPECT_THAT(elements<float>(values[1]), Each(testing::AllOf(Ge(-1.0f), Le(1.0f))));
  EXPECT_THAT(elements<int32_t>(values[2]), Each(Ge(1)));
  EXPECT_THAT(drawn<int64_t>(g, 3), ElementsAre(0, 1));
}

TEST(RandomInputs, ShapesAnyTensorCanTake) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n});
  const ValueId shape = g.input("shape", DType::Int64, Shape{Dim(3)});
  g.output("y", g.node(OpId::Reshape, {x, shape}));
  const auto inputs = draw(g, with_n(6));
  EXPECT_THAT(elements<int64_t>(inputs[1]), ElementsAre(-1, 1, 1));
  EXPECT_TRUE(g.session()->run(inputs, {}, {}).ok());
}

TEST(RandomInputs, WordsThatConsumersKnow) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::String, Shape{n}), free = g.input("free", DType::String, Shape{n});
  OneHotEncoderParams params;
  params.cats_strings = {"red", "blue"};
  g.output("y", g.node(OpId::OneHotEncoder, {x}, Params::of(params)));
  g.output("z", g.node(OpId::Identity, {free}));
  EXPECT_THAT(drawn<std::string>(g), ElementsAre("blue", "red"));
  EXPECT_GT(drawn<std::string>(g, 1).size(), 3u);
}

TEST(RandomInputs, ColumnsThatAreReadApartHaveTheirOwnWords) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::String, Shape{Dim(50), Dim(2)});
  const std::vector<std::vector<std::string>> words{{"red", "blue"}, {"small", "large"}};
  for (int64_t column = 0; column < 2; ++column) {
    GatherParams gather;
    gather.axis = 1;
    const std::string name = std::to_string(column);
    const ValueId one = g.node(OpId::Gather, {x, g.weight<int64_t>("c" + name, {1}, {column - 2})}, Params::of(gather));
    OneHotEncoderParams encoder;
    encoder.cats_strings = words[static_cast<size_t>(column)];
    g.output("y" + name, g.node(OpId::OneHotEncoder, {one}, Params::of(encoder)));
  }
  const auto values = elements<std::string>(draw(g)[0]);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_THAT(words[i % 2], testing::Contains(values[i]));
  EXPECT_EQ(std::set<std::string>(values.begin(), values.end()).size(), 4u);
}

TEST(RandomInputs, SeedAndPositionDecide) {
  SmallGraph g;
  const ValueId a = g.input("a", DType::Float32, Shape{n}), b = g.input("b", DType::Float32, Shape{n});
  g.output("y", g.node(OpId::Add, {a, b}));
  const auto first = draw(g, with_n(4)), again = draw(g, with_n(4));
  EXPECT_EQ(elements<float>(first[0]), elements<float>(again[0]));
  EXPECT_NE(elements<float>(first[0]), elements<float>(first[1]));
  RandomInputOptions other = with_n(4);
  other.seed = 1;
  EXPECT_NE(elements<float>(first[0]), elements<float>(draw(g, other)[0]));
  // A given input decides the symbol and does not change what is drawn for the other.
  auto given = random_inputs(g.graph, {}, {test::tensor<float>({4}, {1, 2, 3, 4}), Value()});
  ASSERT_TRUE(given.ok());
  EXPECT_THAT(elements<float>((*given)[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(elements<float>((*given)[1]), elements<float>(first[1]));
}

TEST(RandomInputs, EveryElementType) {
  SmallGraph g;
  std::vector<DType> dtypes;
  for (int code = 1; code <= 26; ++code)
    if (auto dtype = dtype_from_onnx(code)) dtypes.push_back(*dtype);
  for (DType dtype : dtypes)
    g.output("", g.node(OpId::Identity, {g.input(std::string(dtype_name(dtype)), dtype, Shape{Dim(5)})}));
  const auto values = draw(g);
  for (size_t i = 0; i < dtypes.size(); ++i) {
    EXPECT_EQ(values[i].tensor()->dtype(), dtypes[i]);
    EXPECT_THAT(values[i].tensor()->dims(), ElementsAre(5));
  }
}

TEST(RandomInputs, SequencesOptionalsAndMaps) {
  Graph graph;
  const Type floats = Type::tensor(DType::Float32, Shape{Dim(2)});
  for (Type type :
       {Type::sequence(floats), Type::optional(floats), Type::map(DType::String, Type::tensor(DType::Int64))})
    graph.inputs.push_back({graph.add_value("x", type), kNone});
  auto made = random_inputs(graph, {}, std::vector<Value>(3));
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ((*made)[0].sequence()->items.size(), 3u);
  EXPECT_THAT((*made)[1].optional()->item->tensor()->dims(), ElementsAre(2));
  EXPECT_EQ((*made)[2].map()->values.dtype(), DType::Int64);
  EXPECT_EQ((*made)[2].map()->string_keys.size(), 3u);
}

TEST(RandomInputs, WrongShapesAreErrors) {
  SmallGraph g;
  g.output("y", g.node(OpId::Relu, {g.input("x", DType::Float32, Shape{n, Dim(2)})}));
  for (std::vector<int64_t> shape : {std::vector<int64_t>{1, 3}, {1}, {}}) {
    RandomInputOptions options;
    options.shapes["x"] = shape;
    EXPECT_EQ(random_inputs(g.graph, options, {Value()}).status().code(), Code::InvalidArgument);
  }
  RandomInputOptions options;
  options.shapes["z"] = {1};
  EXPECT_EQ(random_inputs(g.graph, options, {Value()}).status().code(), Code::NotFound);
  EXPECT_EQ(random_inputs(g.graph, {}, {}).status().code(), Code::InvalidArgument);
}

}  // namespace
}  // namespace tenon
