#include "base/float_environment.h"

#include <gmock/gmock.h>

#include <atomic>

#include "base/thread_pool.h"
#include "support/strange_float_environment.h"

namespace tenon {
namespace {

using test::StrangeFloatEnvironment;

// Products that depend on the environment, computed when the program runs.
float denormal() {
  volatile float tiny = 1e-30f, small = 1e-10f;
  return tiny * small;
}
double tenth_of_three() {
  volatile double three = 3, ten = 10;
  return three / ten;
}

TEST(DefaultFloatEnvironment, KeepsDenormalNumbersAndRoundsToNearest) {
  const float expected = denormal();
  ASSERT_GT(expected, 0);
  const StrangeFloatEnvironment strange;
  ASSERT_EQ(denormal(), 0) << "the test must change the environment";
  ASSERT_NE(tenth_of_three(), 0.3);
  {
    const DefaultFloatEnvironment environment;
    EXPECT_EQ(denormal(), expected);
    EXPECT_EQ(tenth_of_three(), 0.3);
  }
  EXPECT_EQ(StrangeFloatEnvironment::control(), StrangeFloatEnvironment::kControl);
  EXPECT_EQ(denormal(), 0) << "the caller has its own environment again";
}

TEST(DefaultFloatEnvironment, IsThatOfWorkersWhoeverStartsThem) {
  const StrangeFloatEnvironment strange;
  ThreadPool pool(2);
  const DefaultFloatEnvironment of_caller;
  std::atomic<int> checked{0}, flushed{0};
  const auto caller = std::this_thread::get_id();
  while (checked == 0)  // until a worker was quick enough to get a chunk
    pool.parallel_for(64, [&](int64_t) {
      if (std::this_thread::get_id() == caller) return std::this_thread::yield();
      ++checked;
      if (denormal() == 0 || tenth_of_three() != 0.3) ++flushed;
    });
  EXPECT_EQ(flushed, 0);
}

TEST(SubnormalScope, TakesThemAsZeroUntilItEnds) {
  const float expected = denormal();
  ASSERT_GT(expected, 0);
  {
    SubnormalScope subnormals;
    EXPECT_EQ(denormal(), expected);
    subnormals.flush(true);
    EXPECT_EQ(denormal(), 0);
    volatile float operand = expected, large = 1e30f;
    EXPECT_EQ(operand * large, 0);
    EXPECT_EQ(tenth_of_three(), 0.3);
    subnormals.flush(false);
    EXPECT_EQ(denormal(), expected);
    subnormals.flush(true);
  }
  EXPECT_EQ(denormal(), expected);
}

TEST(SubnormalScope, HoldsForThoseWhoHelpWithALoop) {
  ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  for (const bool flush : {true, false}) {
    SubnormalScope subnormals;
    subnormals.flush(flush);
    std::atomic<int> checked{0}, wrong{0};
    while (checked == 0)  // until a worker was quick enough to get a chunk
      pool.parallel_for(64, [&](int64_t) {
        if (std::this_thread::get_id() == caller) return std::this_thread::yield();
        ++checked;
        if ((denormal() == 0) != flush) ++wrong;
      });
    EXPECT_EQ(wrong, 0) << flush;
  }
}

}  // namespace
}  // namespace tenon
