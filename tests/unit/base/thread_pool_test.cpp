#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>

namespace tenon {
namespace {

// How often each chunk ran.
class Counts {
 public:
  explicit Counts(int64_t chunks) : size_(chunks), counts_(new std::atomic<int>[static_cast<size_t>(chunks)]()) {}
  void add(int64_t i) { counts_[static_cast<size_t>(i)].fetch_add(1, std::memory_order_relaxed); }
  bool all_are(int count) const {
    for (int64_t i = 0; i < size_; ++i)
      if (counts_[static_cast<size_t>(i)] != count) return false;
    return true;
  }

 private:
  int64_t size_;
  std::unique_ptr<std::atomic<int>[]> counts_;
};

TEST(ThreadPool, RunsEveryChunkOnce) {
  for (const int workers : {0, 1, 3}) {
    ThreadPool pool(workers);
    EXPECT_EQ(pool.workers(), workers);
    for (const int64_t chunks : {0, 1, 2, 7, 1000}) {
      Counts counts(chunks);
      pool.parallel_for(chunks, [&](int64_t i) { counts.add(i); });
      EXPECT_TRUE(counts.all_are(1)) << workers << " workers, " << chunks << " chunks";
    }
  }
}

// The first chunks of both halves wait for each other, so both threads are there.
TEST(ThreadPool, GivesEachThreadNeighbouringChunks) {
  ThreadPool pool(1);
  const auto caller = std::this_thread::get_id();
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> met{0};
    std::atomic<int64_t> first_of_helper{-1};
    pool.parallel_for(101, [&](int64_t i) {
      int64_t none = -1;
      if (std::this_thread::get_id() != caller) first_of_helper.compare_exchange_strong(none, i);
      if (i != 0 && i != 50) return;
      met.fetch_add(1);
      while (met.load() < 2) std::this_thread::yield();
    });
    ASSERT_EQ(first_of_helper, 50);
  }
}

TEST(ThreadPool, SeesWhatChunksWrote) {
  ThreadPool pool(2);
  std::vector<int64_t> squares(64);
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(64, [&](int64_t i) { squares[static_cast<size_t>(i)] = i * i + round; });
    int64_t sum = 0;
    for (const int64_t s : squares) sum += s;
    ASSERT_EQ(sum, 85344 + 64 * round);
  }
}

TEST(ThreadPool, ServesManyCallers) {
  ThreadPool pool(2);
  Counts counts(100);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) pool.parallel_for(100, [&](int64_t i) { counts.add(i); });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(counts.all_are(800));
}

// Both loops are under way until each has met a helper: with one loop at a time neither would end.
TEST(ThreadPool, SharesItsWorkersAmongCallers) {
  ThreadPool pool(2);
  std::atomic<int> met{0};
  const auto meet = [&] {
    std::atomic<int> here{0};
    pool.parallel_for(
        2,
        [&](int64_t) {
          if (here.fetch_add(1) == 1) met.fetch_add(1);
          while (here.load() < 2 || met.load() < 2) std::this_thread::yield();
        },
        1);
  };
  std::thread other(meet);
  meet();
  other.join();
  EXPECT_EQ(met.load(), 2);
}

TEST(ThreadPool, GivesEveryThreadOfALoopItsPlace) {
  ThreadPool pool(3);
  EXPECT_EQ(ThreadPool::place_in_loop(), 0);
  for (int round = 0; round < 100; ++round) {
    std::array<std::atomic<int>, 4> at{};
    pool.parallel_for(
        64,
        [&](int64_t) {
          const int place = ThreadPool::place_in_loop();
          ASSERT_LT(place, 3);
          EXPECT_EQ(at[static_cast<size_t>(place)].fetch_add(1), 0) << "two threads at once in place " << place;
          // A loop inside runs here alone, and does not change the place.
          pool.parallel_for(2, [&](int64_t) { EXPECT_EQ(ThreadPool::place_in_loop(), place); });
          at[static_cast<size_t>(place)].fetch_sub(1);
        },
        2);
  }
}

TEST(ThreadPool, RunsLoopsInsideLoops) {
  ThreadPool pool(2);
  Counts counts(50);
  pool.parallel_for(10, [&](int64_t) { pool.parallel_for(50, [&](int64_t i) { counts.add(i); }); });
  EXPECT_TRUE(counts.all_are(10));
}

TEST(ThreadPool, TakesAtMostTheHelpersThatAreAllowed) {
  ThreadPool pool(3);
  for (const int helpers : {1, 2}) {
    for (int round = 0; round < 50; ++round) {
      std::mutex mutex;
      std::set<std::thread::id> seen;
      pool.parallel_for(
          256,
          [&](int64_t) {
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
          },
          helpers);
      ASSERT_LE(seen.size(), static_cast<size_t>(helpers) + 1);
    }
  }
}

TEST(ThreadPool, KeepsToTheCallerWithoutHelpers) {
  ThreadPool pool(2);
  const auto self = std::this_thread::get_id();
  pool.parallel_for(100, [&](int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); }, 0);
}

// Every thread that is at it throws, while the others are in the middle of a chunk.
TEST(ThreadPool, BringsTheFirstExceptionToTheCaller) {
  for (const int workers : {0, 1, 3}) {
    ThreadPool pool(workers);
    for (int round = 0; round < 500; ++round) {
      std::vector<int> local(64, round);  // gone when the exception leaves, so nobody may touch it then
      std::atomic<int> inside{0};
      EXPECT_THROW(pool.parallel_for(64,
                                     [&](int64_t i) {
                                       inside.fetch_add(1);
                                       local[static_cast<size_t>(i)] += 1;
                                       inside.fetch_sub(1);
                                       if (i % 3 == round % 3) throw std::bad_alloc();
                                     }),
                   std::bad_alloc);
      ASSERT_EQ(inside, 0) << "somebody is still in a chunk";
    }
    Counts counts(100);
    pool.parallel_for(100, [&](int64_t i) { counts.add(i); });
    EXPECT_TRUE(counts.all_are(1)) << "the pool serves on";
  }
}

TEST(ThreadPool, SkipsWhatNobodyBeganWhenAChunkThrows) {
  ThreadPool pool(0);
  int64_t begun = 0;
  EXPECT_THROW(pool.parallel_for(1000,
                                 [&](int64_t i) {
                                   ++begun;
                                   if (i == 2) throw std::runtime_error("third");
                                 }),
               std::runtime_error);
  EXPECT_EQ(begun, 3);
}

}  // namespace
}  // namespace tenon
