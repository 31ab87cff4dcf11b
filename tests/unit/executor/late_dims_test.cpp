// Runs of many lengths that share a binding.
#include "unit/executor/run_program.h"

namespace tenon::test {
namespace {

const Dim kLength = Dim::symbol("length");

// y = Relu(x + x) where x is [2, length].
Plan doubled(std::vector<LateDim> late) {
  const Shape shape{Dim(2), kLength};
  Plan plan;
  plan.values = {arena(shape), arena(shape), arena(shape)};
  plan.inputs = {{0, -1}};
  plan.steps = {step(OpId::Add, "reference", {0, 0}, {1}), step(OpId::Relu, "reference", {1}, {2})};
  plan.outputs = {2};
  plan.output_names = {"y"};
  plan.late_dims = std::move(late);
  return plan;
}

void expect_doubled(const Tensor& x, const Tensor& y) {
  ASSERT_EQ(y.dims(), x.dims());
  for (size_t i = 0; i < x.as<float>().size(); ++i) ASSERT_EQ(y.as<float>()[i], 2 * x.as<float>()[i]);
}

TEST(LateDims, ClassesGrowByQuartersOrDoublings) {
  const HandMadeRun run(doubled({{"length"}, {"cache", LateDim::Classes::Doublings}}));
  const PreparedPlan& plan = run.prepared();
  for (const auto& [extent, quarters, doublings] : std::vector<std::array<int64_t, 3>>{{0, 0, 0},
                                                                                       {1, 1, 1},
                                                                                       {2, 16, 16},
                                                                                       {16, 16, 16},
                                                                                       {17, 20, 32},
                                                                                       {20, 20, 32},
                                                                                       {21, 24, 32},
                                                                                       {32, 32, 32},
                                                                                       {33, 40, 64},
                                                                                       {512, 512, 512},
                                                                                       {513, 640, 1024}}) {
    EXPECT_EQ(plan.capacity(0, extent), quarters) << extent;
    EXPECT_EQ(plan.capacity(1, extent), doublings) << extent;
  }
  EXPECT_EQ(plan.capacity(-1, 33), 33);
}

TEST(LateDims, OneBindingServesAClass) {
  HandMadeRun late(doubled({{"length"}})), exact(doubled({}));
  for (int64_t length = 0; length <= 512; ++length) {
    const Tensor x = counted({2, length});
    expect_doubled(x, late.run({x})[0]);
    if (HasFatalFailure()) return;
  }
  EXPECT_TRUE(late.prepared().has_late_dims());
  // 0, 1, 16 and four for each of the five doublings from there to 512.
  EXPECT_EQ(late.prepared().segment_count(), 23u);
  for (int64_t length = 17; length <= 32; ++length) exact.run({counted({2, length})});
  EXPECT_EQ(exact.prepared().segment_count(), 16u);
}

TEST(LateDims, LengthsComeInAnyOrder) {
  HandMadeRun run(doubled({{"length"}}));
  for (const int64_t length : {40, 33, 40, 5, 34, 16, 40, 39, 2, 33}) {
    const Tensor x = counted({2, length});
    expect_doubled(x, run.run({x})[0]);
  }
  EXPECT_EQ(run.prepared().segment_count(), 2u);
}

// z = (x + x) + w with w [2, 20]: only one length is right, and it must stay the only one.
TEST(LateDims, ShapesAreCheckedForEveryLength) {
  Plan plan = doubled({{"length"}});
  plan.values.push_back({"w", Type::tensor(DType::Float32, Shape{Dim(2), Dim(20)}), Storage::Slot, 0});
  plan.steps[1] = step(OpId::Add, "reference", {1, 3}, {2});
  HandMadeRun run(plan, {counted({2, 20})});
  EXPECT_TRUE(run.try_run({counted({2, 20})}).ok());
  EXPECT_FALSE(run.try_run({counted({2, 19})}).ok());
  EXPECT_FALSE(run.try_run({counted({2, 18})}).ok());
  EXPECT_TRUE(run.try_run({counted({2, 20})}).ok());
  // One element broadcasts.
  EXPECT_EQ(run.run({counted({2, 1})})[0].dims(), (std::vector<int64_t>{2, 20}));
}

// A graph that the largest length of a class does not fit still runs.
TEST(LateDims, WhatClassesDoNotFitIsBoundExactly) {
  Plan plan = doubled({{"length"}});
  plan.values.push_back({"w", Type::tensor(DType::Float32, Shape{Dim(2), Dim(18)}), Storage::Slot, 0});
  plan.steps[1] = step(OpId::Add, "reference", {1, 3}, {2});
  HandMadeRun run(plan, {counted({2, 18})});
  EXPECT_TRUE(run.try_run({counted({2, 18})}).ok());
  EXPECT_FALSE(run.prepared().has_late_dims());
  EXPECT_FALSE(run.try_run({counted({2, 19})}).ok());
}

}  // namespace
}  // namespace tenon::test
