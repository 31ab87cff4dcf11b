#include "providers/machine_speed.h"

#include <gtest/gtest.h>

#include "providers/cpu/multiply_adds.h"

namespace tenon {
namespace {

TEST(MachineSpeed, CountsWhatEachInstructionSetComputes) {
  for (const Isa isa : usable_isas()) {
    float result = 0;
    const int64_t once = run_multiply_adds(isa, 1, &result);
    EXPECT_GT(result, 2) << isa_name(isa);
    EXPECT_EQ(run_multiply_adds(isa, 50, &result), 50 * once);
    EXPECT_EQ(result, 2) << "sums of halves";
    EXPECT_EQ(once % 24, 0);
  }
}

TEST(MachineSpeed, IsMeasuredWithAndWithoutHelpers) {
  ThreadPool pool(1);
  for (ThreadPool* helpers : {static_cast<ThreadPool*>(nullptr), &pool}) {
    const auto speed = measure_machine_speed(helpers, usable_isas().front());
    ASSERT_TRUE(speed.ok());
    EXPECT_GT(speed->flops, 0);
    EXPECT_GT(speed->bytes, 0);
  }
}

}  // namespace
}  // namespace tenon
