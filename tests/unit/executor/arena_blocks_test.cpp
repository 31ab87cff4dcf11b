#include "executor/arena_blocks.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tenon {
namespace {

TEST(ArenaBlocks, FillsTheSmallestGapThatFits) {
  ArenaBlocks arena;
  const int64_t a = arena.take(64), b = arena.take(128), c = arena.take(64), d = arena.take(64);
  EXPECT_EQ(arena.bytes(), 320);
  arena.give_back(b, 128);
  arena.give_back(d, 64);
  EXPECT_EQ(arena.take(64), d);
  EXPECT_EQ(arena.take(128), b);
  EXPECT_EQ(a + c, 0 + 192);
}

TEST(ArenaBlocks, JoinsNeighboursAndGrowsAtTheEnd) {
  ArenaBlocks arena;
  const int64_t a = arena.take(64), b = arena.take(64), c = arena.take(64);
  arena.give_back(a, 64);
  arena.give_back(c, 64);
  arena.give_back(b, 64);
  EXPECT_EQ(arena.take(256), 0);
  EXPECT_EQ(arena.bytes(), 256);
}

TEST(ArenaBlocks, NeverOverlaps) {
  std::mt19937 random(7);
  ArenaBlocks arena;
  struct Block {
    int64_t at, size;
  };
  std::vector<Block> live;
  for (int i = 0; i < 5000; ++i) {
    if (!live.empty() && random() % 2) {
      std::swap(live[random() % live.size()], live.back());
      arena.give_back(live.back().at, live.back().size);
      live.pop_back();
      continue;
    }
    const int64_t size = 64 * static_cast<int64_t>(1 + random() % 9), at = arena.take(size);
    EXPECT_LE(at + size, arena.bytes());
    for (const Block& other : live) EXPECT_TRUE(at + size <= other.at || other.at + other.size <= at);
    live.push_back({at, size});
  }
}

}  // namespace
}  // namespace tenon
