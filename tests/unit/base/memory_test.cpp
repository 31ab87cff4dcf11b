#include "base/memory.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(MemoryBudget, KeepsToItsLimit) {
  MemoryBudget budget(1000);
  EXPECT_TRUE(budget.reserve(600).ok());
  const Status refusal = budget.reserve(401);
  EXPECT_EQ(refusal.code(), Code::ResourceLimit);
  EXPECT_NE(refusal.message().find("401"), std::string::npos);
  EXPECT_TRUE(budget.reserve(400).ok());
  EXPECT_EQ(budget.used(), 1000);
  budget.release(1000);
  EXPECT_EQ(budget.used(), 0);
  EXPECT_EQ(budget.peak(), 1000);
}

TEST(MemoryBudget, ReclaimsBeforeItRefuses) {
  const auto budget = std::make_shared<MemoryBudget>(10'000);
  auto idle = Buffer::allocate(8'000, budget).value();
  int asked = 0;
  budget->set_reclaim([&] {
    ++asked;
    idle.reset();
  });
  EXPECT_TRUE(budget->reserve(1'000).ok());
  EXPECT_EQ(asked, 0) << "there is room";
  auto wanted = Buffer::allocate(9'000, budget);
  ASSERT_TRUE(wanted.ok()) << wanted.status().to_string();
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(idle);
  EXPECT_EQ(budget->reserve(1).code(), Code::ResourceLimit);
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace tenon
