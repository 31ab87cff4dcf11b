#include "executor/within_memory.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(WithinMemory, TurnsMissingMemoryIntoAnError) {
  const Status missing = within_memory([]() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(missing.code(), Code::ResourceLimit);
  const auto too_long = within_memory([]() -> Result<int> { throw std::length_error("append"); });
  EXPECT_EQ(too_long.status().code(), Code::ResourceLimit);
}

TEST(WithinMemory, TurnsMistakesIntoErrors) {
  const Status mistake = within_memory([]() -> Status { throw std::logic_error("a wrong turn"); });
  EXPECT_EQ(mistake.code(), Code::Internal);
  EXPECT_NE(mistake.message().find("a wrong turn"), std::string::npos);
}

TEST(WithinMemory, PassesOnEverythingElse) {
  EXPECT_TRUE(within_memory([] { return Status(); }).ok());
  EXPECT_EQ(within_memory([] { return Result<int>(7); }).value(), 7);
  EXPECT_EQ(within_memory([]() -> Status { return invalid_model("no"); }).code(), Code::InvalidModel);
}

}  // namespace
}  // namespace tenon
