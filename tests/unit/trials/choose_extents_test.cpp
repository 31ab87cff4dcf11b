#include "trials/inputs/choose_extents.h"

#include <gmock/gmock.h>

#include "ops/convolution.h"
#include "ops/recurrent.h"
#include "support/small_graph.h"
#include "trials/inputs/shape_probe.h"

namespace tenon {
namespace {

using test::SmallGraph;
using testing::ElementsAre;
using testing::Pair;

const Dim n = Dim::symbol("n"), h = Dim::symbol("h"), w = Dim::symbol("w"), k = Dim::symbol("k");

ValueId zeros(SmallGraph& g, const std::string& name, std::vector<int64_t> dims) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  return g.weight<float>(name, std::move(dims), std::vector<float>(static_cast<size_t>(count)));
}

TEST(ChooseExtents, UsualExtentsWhereAllAreAccepted) {
  SmallGraph g;
  g.output("y", g.node(OpId::Relu, {g.input("x", DType::Float32, Shape{n, Dim(3), h, w})}));
  EXPECT_THAT(choose_extents(g.graph, {}, 0), ElementsAre(Pair("h", 64), Pair("n", 1), Pair("w", 64)));
  // The second choice differs, and not in the same way for both sides of an image.
  EXPECT_THAT(choose_extents(g.graph, {}, 1), ElementsAre(Pair("h", 32), Pair("n", 2), Pair("w", 64)));
  EXPECT_THAT(choose_extents(g.graph, {{"n", 7}}, 1), ElementsAre(Pair("h", 32), Pair("n", 7), Pair("w", 64)));
}

TEST(ChooseExtents, ImagesWithTheChannelsLast) {
  SmallGraph g;
  g.output("y", g.node(OpId::Relu, {g.input("x", DType::Float32, Shape{n, h, w, Dim(3)})}));
  EXPECT_THAT(choose_extents(g.graph, {}, 0), ElementsAre(Pair("h", 64), Pair("n", 1), Pair("w", 64)));
}

TEST(ChooseExtents, FeaturesFollowFromWeights) {
  SmallGraph g;
  g.output("y", g.node(OpId::MatMul, {g.input("x", DType::Float32, Shape{n, k}), zeros(g, "w", {48, 5})}));
  EXPECT_THAT(choose_extents(g.graph, {}, 0), ElementsAre(Pair("k", 48), Pair("n", 1)));
  EXPECT_THAT(choose_extents(g.graph, {}, 1), ElementsAre(Pair("k", 48), Pair("n", 2)));
}

TEST(ChooseExtents, BothSidesOfAnImageThatIsFlattened) {
  // 4 channels of 15 x 15 remain of 32 x 32.
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, Dim(3), h, w});
  ConvParams params;
  params.window.strides = {2, 2};
  const ValueId c = g.node(OpId::Conv, {x, zeros(g, "filter", {4, 3, 3, 3})}, Params::of(params));
  g.output("y", g.node(OpId::MatMul, {g.node(OpId::Flatten, {c}), zeros(g, "w", {900, 2})}));
  EXPECT_THAT(choose_extents(g.graph, {}, 0), ElementsAre(Pair("h", 32), Pair("n", 1), Pair("w", 32)));
}

// An image of any size through a convolution that leaves a quarter of each side, flattened for a classifier.
Extents flattened_image(int64_t features, size_t choice) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, Dim(3), h, w});
  ConvParams params;
  params.window.strides = {4, 4};
  const ValueId c = g.node(OpId::Conv, {x, zeros(g, "filter", {8, 3, 4, 4})}, Params::of(params));
  const ValueId shape = g.weight<int64_t>("shape", {2}, {-1, features});
  g.output("y", g.node(OpId::MatMul, {g.node(OpId::Reshape, {c, shape}), zeros(g, "w", {features, 2})}));
  return choose_extents(g.graph, {}, choice);
}

TEST(ChooseExtents, SquaresBeforeStripesAndBatches) {
  // 56 x 56, where 1568 images of any size would be accepted too.
  EXPECT_THAT(flattened_image(8 * 14 * 14, 0), ElementsAre(Pair("h", 56), Pair("n", 1), Pair("w", 56)));
  EXPECT_THAT(flattened_image(8 * 32 * 32, 0), ElementsAre(Pair("h", 128), Pair("n", 1), Pair("w", 128)));
  // 228 is no multiple of 16.
  EXPECT_THAT(flattened_image(8 * 57 * 57, 0), ElementsAre(Pair("h", 228), Pair("n", 1), Pair("w", 228)));
}

TEST(ChooseExtents, BothSidesWhereTheChannelsAreOpenToo) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, k, h, w});
  ConvParams params;
  params.window.strides = {16, 16};
  const ValueId c = g.node(OpId::Conv, {x, zeros(g, "filter", {4, 3, 16, 16})}, Params::of(params));
  const ValueId flat = g.node(OpId::Reshape, {c, g.weight<int64_t>("shape", {3}, {0, 4, -1})});
  g.output("y", g.node(OpId::Add, {flat, zeros(g, "places", {1, 4, 196})}));
  EXPECT_THAT(choose_extents(g.graph, {}, 0), ElementsAre(Pair("h", 224), Pair("k", 3), Pair("n", 1), Pair("w", 224)));
}

TEST(ChooseExtents, TheSecondChoiceIsAnotherOne) {
  EXPECT_THAT(flattened_image(8 * 14 * 14, 1), ElementsAre(Pair("h", 112), Pair("n", 2), Pair("w", 112)));
  // The least that a window of 400 accepts, and twice as much.
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, Dim(1), k});
  g.output("y", g.node(OpId::Conv, {x, zeros(g, "filter", {1, 1, 400})}));
  EXPECT_EQ(choose_extents(g.graph, {}, 0).at("k"), 400);
  EXPECT_EQ(choose_extents(g.graph, {}, 1).at("k"), 800);
}

TEST(ChooseExtents, RecurrentLayersHaveTimeFirst) {
  for (const int64_t layout : {0, 1}) {
    SmallGraph g;
    LSTMParams params;
    params.common.layout = layout;
    const ValueId x = g.input("x", DType::Float32, Shape{n, k, Dim(6)});
    g.output("y", g.node(OpId::LSTM, {x, zeros(g, "w", {1, 16, 6}), zeros(g, "r", {1, 16, 4})}, Params::of(params)));
    const Extents chosen = choose_extents(g.graph, {}, 0);
    EXPECT_EQ(chosen.at(layout == 0 ? "n" : "k"), 16);
    EXPECT_EQ(chosen.at(layout == 0 ? "k" : "n"), 1);
  }
}

TEST(ChooseExtents, MultiplesThatAReshapeNeeds) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, k});
  g.output("y", g.node(OpId::Reshape, {x, g.weight<int64_t>("shape", {2}, {-1, 49})}));
  const Extents chosen = choose_extents(g.graph, {}, 0);
  EXPECT_EQ(chosen.at("n") * chosen.at("k") % 49, 0);
  EXPECT_GT(chosen.at("n") * chosen.at("k"), 0);
  EXPECT_EQ(choose_extents(g.graph, {{"n", 1}}, 0).at("k"), 49);
}

TEST(ChooseExtents, StatesOfRecurrentLayersHaveABatchInTheMiddle) {
  SmallGraph g;
  g.output("y", g.node(OpId::Relu, {g.input("state", DType::Float32, Shape{Dim(2), n, Dim(128)})}));
  EXPECT_EQ(choose_extents(g.graph, {}, 0).at("n"), 1);
  SmallGraph features;
  features.output("y", features.node(OpId::Relu, {features.input("x", DType::Float32, Shape{Dim(1), n, Dim(80)})}));
  EXPECT_EQ(choose_extents(features.graph, {}, 0).at("n"), 16);
}

TEST(ChooseExtents, LargeEnoughForAWindow) {
  // Nothing is left of fewer than 400 samples.
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, Dim(1), k});
  g.output("y", g.node(OpId::Conv, {x, zeros(g, "filter", {1, 1, 400})}));
  EXPECT_GE(choose_extents(g.graph, {}, 0).at("k"), 400);
  EXPECT_LE(choose_extents(g.graph, {}, 0).at("k"), 512);
}

TEST(ShapeProbe, CountsWhatIsAccepted) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{n, k});
  const ValueId y = g.node(OpId::Relu, {x});
  g.output("y", g.node(OpId::MatMul, {y, zeros(g, "w", {3, 5})}));
  ShapeProbe probe(g.graph);
  const ProbeResult refused = probe.probe({{"n", 1}, {"k", 4}}), good = probe.probe({{"n", 1}, {"k", 3}}),
                    empty = probe.probe({{"n", 0}, {"k", 3}});
  EXPECT_TRUE(refused.refused);
  EXPECT_EQ(refused.accepted, 1u);
  EXPECT_EQ(refused.trouble, NodeId(1));
  EXPECT_FALSE(good.refused);
  EXPECT_EQ(good.accepted, 2u);
  EXPECT_FALSE(good.trouble);
  EXPECT_EQ(empty.empty, 2u);
  EXPECT_EQ(empty.trouble, NodeId(0));
  EXPECT_TRUE(good.is_better_than(empty));
  EXPECT_TRUE(empty.is_better_than(refused));
  EXPECT_EQ(probe.rules_run(), 6);
}

}  // namespace
}  // namespace tenon
