#include "swap/swap_check.h"

#include <gmock/gmock.h>

#include "plan/plan.h"
#include "plan/tensor_bytes.h"

namespace tenon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span(values));
}

// A program with one weight of two elements, which is one slot.
Program program_with(std::vector<Guard> guards) {
  Program program;
  program.sources = {{"w", DType::Float32, {2}}};
  program.weight_program = {{0, {0}, nullptr, ""}};
  program.guards = std::move(guards);
  return program;
}

Result<PlannedSwap> swap_to(const Program& program, const std::vector<float>& values, bool recompile = false) {
  WeightSnapshot current;
  current.slots.resize(1);
  current.sources.resize(1);
  const auto source = weights_in_memory({{"w", floats(values)}}, true);
  SwapOptions options;
  options.recompile = recompile;
  return plan_swap(program, current, *source, options);
}

TEST(Guards, AnAnswerThatStaysLetsNewElementsIn) {
  const Program program = program_with({{0, "fuse_scale", "all positive", "yes"}, {0, "fuse_scale", "all zero", "no"}});
  const auto planned = swap_to(program, {3, 4});
  ASSERT_TRUE(planned.ok()) << planned.status().to_string();
  EXPECT_THAT(planned->changed, ElementsAre(true));
  EXPECT_THAT(planned->slots, ElementsAre(0u));
}

TEST(Guards, AnotherAnswerIsRefusedWithWeightPropertyAndAsker) {
  const Program program = program_with({{0, "fuse_scale", "all positive", "yes"}});
  const Status refusal = swap_to(program, {3, -4}).status();
  EXPECT_EQ(refusal.code(), Code::GuardViolated);
  EXPECT_THAT(refusal.to_string(), HasSubstr("fuse_scale needs 'w' to be all positive, but the new weight is not"));
}

TEST(Guards, ANoIsAnAnswerToo) {
  const Program program = program_with({{0, "remove_factors", "equal to 1", "no"}});
  EXPECT_TRUE(swap_to(program, {1, 2}).ok());
  const Status refusal = swap_to(program, {1, 1}).status();
  EXPECT_EQ(refusal.code(), Code::GuardViolated);
  EXPECT_THAT(refusal.to_string(), HasSubstr("remove_factors needs 'w' not to be equal to 1, but the new weight is"));
}

TEST(Guards, ElementsThatWereAskedForStay) {
  const Program program =
      program_with({{0, "the shape rule of Reshape", "elements", content_hash(floats({1, 2})).hex()}});
  const auto same = swap_to(program, {1, 2});
  ASSERT_TRUE(same.ok()) << same.status().to_string();
  EXPECT_THAT(same->changed, ElementsAre(false));
  const Status refusal = swap_to(program, {2, 1}).status();
  EXPECT_EQ(refusal.code(), Code::GuardViolated);
  EXPECT_THAT(refusal.to_string(), HasSubstr("the shape rule of Reshape depends on the elements of 'w'"));
}

TEST(Guards, AnotherAnswerIsToldWhereThePlanCanBeMadeAgain) {
  const Program program = program_with({{0, "fuse_scale", "all positive", "yes"}, {0, "fuse_scale", "all zero", "no"}});
  const auto planned = swap_to(program, {3, -4}, true);
  ASSERT_TRUE(planned.ok()) << planned.status().to_string();
  ASSERT_EQ(planned->broken.size(), 1u);
  const BrokenGuard& guard = planned->broken[0];
  EXPECT_THAT((std::vector{guard.weight, guard.asker, guard.property, guard.before, guard.after}),
              ElementsAre("w", "fuse_scale", "all positive", "yes", "no"));
  EXPECT_THAT(planned->changed, ElementsAre(true));
}

TEST(Guards, PinnedElementsStayWhoeverCouldCompile) {
  const Program program = program_with({{0, "the user", "pinned", content_hash(floats({1, 2})).hex()}});
  EXPECT_TRUE(swap_to(program, {1, 2}, true).ok());
  EXPECT_EQ(swap_to(program, {2, 1}, true).status().code(), Code::GuardViolated);
}

}  // namespace
}  // namespace tenon
