#include <gtest/gtest.h>

#include "providers/cpu/isa.h"

namespace tenon {
namespace {

TEST(CpuIsa, CanBeLimitedAndFreedAgain) {
  const auto all = cpu_isas();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(cpu_isa(), all.front());
  for (const auto isa : all) {
    ASSERT_TRUE(limit_cpu_isa(isa).ok());
    EXPECT_EQ(cpu_isa(), isa);
  }
  ASSERT_TRUE(limit_cpu_isa("").ok());
  EXPECT_EQ(cpu_isas(), all);
}

TEST(CpuIsa, RefusesWhatThereIsNot) {
  EXPECT_EQ(limit_cpu_isa("mmx").code(), Code::InvalidArgument);
  EXPECT_EQ(cpu_isa(), cpu_isas().front());
}

}  // namespace
}  // namespace tenon
