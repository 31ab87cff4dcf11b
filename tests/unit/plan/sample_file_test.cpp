// Files in the format of today, for tests in other languages and against changes nobody meant.
#include <gtest/gtest.h>

#include <fstream>

#include "unit/plan/sample_artifact.h"
#include "unit/plan/sample_model.h"

namespace tenon {
namespace {

constexpr const char *kWeights = "tests/artifact/sample.bin", *kModel = "tests/artifact/sample_ctx.onnx";

std::string read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string context_model() {
  SampleModel sample;
  sample.context.plan_key = plan_key(sample_program());
  sample.context.content_id = open_bytes(sample_artifact().write()).value()->content_id();
  sample.context.source_model = "prefill.onnx";
  return sample.write();
}

// When one of these fails, files that users have can no longer be read: raise the version in plan_bytes.h or
// artifact_format.h, describe the change in docs/artifact.md, then run the disabled test below.
TEST(SampleFile, WeightsAreWrittenAsBefore) { EXPECT_TRUE(sample_artifact().write() == read(kWeights)); }
TEST(SampleFile, ContextModelIsWrittenAsBefore) { EXPECT_TRUE(context_model() == read(kModel)); }

TEST(SampleFile, DISABLED_WriteAnew) {
  std::ofstream(kWeights, std::ios::binary) << sample_artifact().write();
  std::ofstream(kModel, std::ios::binary) << context_model();
}

}  // namespace
}  // namespace tenon
