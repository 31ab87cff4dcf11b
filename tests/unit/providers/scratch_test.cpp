#include "providers/scratch.h"

#include <gtest/gtest.h>

#include "unit/providers/run_kernel.h"

namespace tenon {
namespace {

using test::KernelRun;

Status use_scratch(KernelContext&) {
  Scratch<int64_t> list;
  for (int64_t i = 0; i < 1'000'000; ++i) list.push_back(i);
  EXPECT_EQ(list.back(), 999'999);
  EXPECT_GE(KernelScope::current()->budget()->used(), 8'000'000);
  return {};
}

Status stop(KernelContext&) {
  const Scratch<int64_t> list(1'000);
  throw KernelStop{error(Code::Cancelled, "enough")};
}

Status call(KernelFunction function, KernelServices& services) {
  const Variant variant{"test", function};
  return call_kernel({.name = "test", .variants = {&variant, 1}}, Params(), {}, {}, {}, services);
}

TEST(Scratch, IsCountedWhileItIsThere) {
  KernelRun run(nullptr);
  EXPECT_TRUE(call(use_scratch, run).ok());
  EXPECT_EQ(run.budget()->used(), 0);
  EXPECT_GE(run.budget()->peak(), 8'000'000);
}

TEST(Scratch, EndsTheKernelAtTheLimit) {
  KernelRun run(nullptr, 4'000'000);
  const Status status = call(use_scratch, run);
  EXPECT_EQ(status.code(), Code::ResourceLimit);
  EXPECT_NE(status.message().find("memory_limit"), std::string::npos);
  EXPECT_EQ(run.budget()->used(), 0);
  EXPECT_LE(run.budget()->peak(), 4'000'000);
}

TEST(Scratch, IsFreedWhenTheKernelStops) {
  KernelRun run(nullptr);
  EXPECT_EQ(call(stop, run).code(), Code::Cancelled);
  EXPECT_EQ(run.budget()->used(), 0);
}

TEST(Scratch, OutsideOfKernelsIsNotCounted) {
  EXPECT_EQ(KernelScope::current(), nullptr);
  EXPECT_EQ(Scratch<char>(100).size(), 100u);
}

}  // namespace
}  // namespace tenon
