// How often packed weights are stored after a change of weights.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "ops/convolution.h"
#include "ops/normalization.h"
#include "support/small_graph.h"

namespace tenon {
namespace {

using test::SmallGraph;
using test::tensor;
using testing::SizeIs;

constexpr int64_t kChannels = 16;

std::vector<float> ramp(size_t count, float start) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = start + static_cast<float>(i % 7) * 0.25f;
  return values;
}

// A convolution with a normalization that folds into it.
ValueId folded(SmallGraph& g, ValueId x, const std::string& prefix, float start) {
  const ValueId w = g.weight<float>(prefix + "w", {kChannels, kChannels, 3, 3}, ramp(kChannels * kChannels * 9, start));
  std::vector<ValueId> inputs{g.node(OpId::Conv, {x, w})};
  for (const char* part : {"gamma", "beta", "mean", "var"})
    inputs.push_back(g.weight<float>(prefix + part, {kChannels}, ramp(kChannels, start + 1)));
  return g.node(OpId::BatchNormalization, inputs);
}

SmallGraph one_layer(float start) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(1), Dim(kChannels), Dim(5), Dim(5)});
  g.output("y", folded(g, x, "", start));
  return g;
}

// The weights of a layer by name.
std::map<std::string, Tensor> layer(const std::string& prefix, float start) {
  std::map<std::string, Tensor> tensors;
  const auto put = [&](const char* name, std::vector<int64_t> dims) {
    const auto values = ramp(static_cast<size_t>(count_of(dims)), name[0] == 'w' ? start : start + 1);
    tensors.emplace(prefix + name, Tensor::of<float>(dims, std::span<const float>(values)));
  };
  put("w", {kChannels, kChannels, 3, 3});
  for (const char* name : {"gamma", "beta", "mean", "var"}) put(name, {kChannels});
  return tensors;
}

std::set<const void*> stored(const std::vector<const Session*>& sessions) {
  std::set<const void*> memory;
  for (const Session* session : sessions)
    for (const Tensor& slot : session->weights()->slots) memory.insert(slot.data());
  return memory;
}

TEST(SharedWeights, ModelsThatChangeTogetherStoreAFoldedConvolutionOnce) {
  const auto a = one_layer(1).session({}, "cpu"), b = one_layer(2).session({}, "cpu");
  const size_t slots = a->weights()->slots.size();
  ASSERT_THAT(stored({a.get(), b.get()}), SizeIs(2 * slots));
  const std::shared_ptr<const WeightSource> source = weights_in_memory(layer("", 3), false);
  Session* const both[] = {a.get(), b.get()};
  const auto same_for_all = [&](const WeightSnapshot&) { return Result<std::shared_ptr<const WeightSource>>(source); };
  const auto reports = Session::set_weights_together(both, same_for_all, {});
  ASSERT_TRUE(reports.ok()) << reports.status().to_string();
  EXPECT_THAT(stored({a.get(), b.get()}), SizeIs(slots));
}

TEST(SharedWeights, EqualSlotsOfOneModelAreStoredOnce) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(1), Dim(kChannels), Dim(9), Dim(9)});
  g.output("y", folded(g, folded(g, x, "a.", 1), "b.", 2));
  const auto session = g.session({}, "cpu");
  const size_t slots = session->weights()->slots.size();
  ASSERT_THAT(stored({session.get()}), SizeIs(slots));
  auto tensors = layer("a.", 3);
  tensors.merge(layer("b.", 3));
  const std::shared_ptr<const WeightSource> equal = weights_in_memory(tensors, false);
  ASSERT_TRUE(session->set_weights(equal, {}).ok());
  EXPECT_THAT(stored({session.get()}), SizeIs(slots / 2));

  // One element that no sample sees.
  Tensor& w = tensors.at("b.w");
  w.as_mutable<float>()[1001] += 1;
  const std::shared_ptr<const WeightSource> unequal = weights_in_memory(tensors, false);
  ASSERT_TRUE(session->set_weights(unequal, {}).ok());
  EXPECT_THAT(stored({session.get()}), SizeIs(slots / 2 + 1));
}

TEST(SharedWeights, TypesAreDifferentSlots) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Int32, Shape{Dim(1)});
  g.output("wide", g.node(OpId::Add, {x, g.weight<int32_t>("wide", {2}, {1, 2})}));
  g.output("tall", g.node(OpId::Add, {x, g.weight<int32_t>("tall", {2, 1}, {1, 2})}));
  const auto session = g.session();
  const std::vector<int32_t> values{5, 6};
  const std::shared_ptr<const WeightSource> source = weights_in_memory(
      {{"wide", Tensor::of<int32_t>({2}, values)}, {"tall", Tensor::of<int32_t>({2, 1}, values)}}, false);
  ASSERT_TRUE(session->set_weights(source, {}).ok());
  const auto result = session->run({tensor<int32_t>({1}, {1})}, {}, {});
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_THAT((*result)[0].tensor()->dims(), testing::ElementsAre(2));
  EXPECT_THAT((*result)[1].tensor()->dims(), testing::ElementsAre(2, 1));
}

TEST(SharedWeights, EachNameOfEqualWeightsIsReportedWhenTheyAreNotFinite) {
  SmallGraph g;
  const ValueId x = g.input("x", DType::Float32, Shape{Dim(1), Dim(kChannels), Dim(9), Dim(9)});
  g.output("y", folded(g, folded(g, x, "a.", 1), "b.", 2));
  const auto session = g.session({}, "cpu");
  auto tensors = layer("a.", 3);
  tensors.merge(layer("b.", 3));
  for (const char* name : {"a.w", "b.w"}) tensors.at(name).as_mutable<float>()[1001] = std::nanf("");
  const std::shared_ptr<const WeightSource> source = weights_in_memory(tensors, false);
  const auto report = session->set_weights(source, {});
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->not_finite, testing::UnorderedElementsAre("a.w", "b.w"));
}

}  // namespace
}  // namespace tenon
