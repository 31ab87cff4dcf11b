#include "executor/arena_pool.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

std::shared_ptr<MemoryBudget> budget_of(int64_t bytes) { return std::make_shared<MemoryBudget>(bytes); }

TEST(ArenaPool, GivesTheSmallestThatIsLargeEnough) {
  ArenaPool pool(budget_of(1 << 20));
  auto small = pool.take(1000).value(), large = pool.take(5000).value(), held = pool.take(10).value();
  const std::byte* const at = small->data();
  pool.give_back(std::move(large), true);
  pool.give_back(std::move(small), true);
  EXPECT_EQ(pool.take(900).value()->data(), at);
}

TEST(ArenaPool, HoldsOneWhenNothingRuns) {
  const auto budget = budget_of(1 << 20);
  ArenaPool pool(budget);
  auto a = pool.take(1000).value(), b = pool.take(64'000).value();
  const int64_t both = budget->used();
  pool.give_back(std::move(a), true);
  EXPECT_EQ(budget->used(), both);
  pool.give_back(std::move(b), true);
  EXPECT_LT(budget->used(), both);
  EXPECT_GE(budget->used(), 64'000);
  pool.release_idle();
  EXPECT_EQ(budget->used(), 0);
}

TEST(ArenaPool, ReplacesOneThatIsTooSmall) {
  const auto budget = budget_of(150'000);
  ArenaPool pool(budget);
  for (int64_t bytes = 1000; bytes <= 100'000; bytes += 1000) {
    auto arena = pool.take(bytes);
    ASSERT_TRUE(arena.ok()) << bytes << ": " << arena.status().to_string();
    pool.give_back(std::move(*arena), true);
  }
}

TEST(RunArena, TakesFromOnePieceWhenTheNeedIsKnown) {
  const auto budget = budget_of(1 << 20);
  ArenaPool pool(budget);
  int64_t most = 0;
  {
    RunArena first(pool, 0);
    ASSERT_TRUE(first.take(1000).ok());
    const auto mark = first.mark();
    // A body that runs twice uses the same memory twice.
    const std::byte* const body = first.take(3000).value();
    first.give_back(mark);
    EXPECT_EQ(first.take(3000).value(), body);
    most = first.most();
  }
  EXPECT_EQ(most, 1024 + 3008);
  EXPECT_EQ(budget->used(), 0);  // two pieces, neither of which would do
  RunArena second(pool, most);
  const std::byte* const outer = second.take(1000).value();
  EXPECT_EQ(second.take(3000).value(), outer + 1024);
}

TEST(RunArena, SaysWhenTheLimitIsReached) {
  ArenaPool pool(budget_of(10'000));
  RunArena arena(pool, 0);
  ASSERT_TRUE(arena.take(5000).ok());
  EXPECT_EQ(arena.take(9000).status().code(), Code::ResourceLimit);
  // What was there stays usable.
  EXPECT_TRUE(arena.take(2000).ok());
}

}  // namespace
}  // namespace tenon
