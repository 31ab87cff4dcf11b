// How often a build reads weights to hash them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "api/onnx_text.h"
#include "base/hash_count.h"
#include "build/build.h"
#include "build/json.h"

namespace tenon::build {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWidth = 256;
constexpr uint64_t kWeightBytes = kWidth * kWidth * sizeof(float);
// Structure, plans and small weights, far below a weight.
constexpr uint64_t kRest = kWeightBytes / 4;

// y = x * w, with w inside or in the file "w.data" beside the model.
std::string product(bool external) {
  onnx_text::Model model;
  model.nodes = {{"MatMul", {"x", "w"}, {"y"}, "multiply", "", {}}};
  model.inputs = {onnx_text::value("x", onnx_text::tensor_type(onnx_text::kFloat, {"n", kWidth}))};
  model.outputs = {onnx_text::value("y", onnx_text::tensor_type(onnx_text::kFloat, {"n", kWidth}))};
  if (external) {
    using onnx_text::bytes, onnx_text::number;
    model.weights = {number(1, kWidth) + number(1, kWidth) + number(2, 1) + bytes(8, "w") +
                     bytes(13, bytes(1, "location") + bytes(2, "w.data")) + number(14, 1)};
  } else {
    model.weights = {onnx_text::weight("w", {kWidth, kWidth}, std::vector<float>(kWidth * kWidth, 0.5f))};
  }
  return model.to_bytes();
}

class HashOnce : public testing::Test {
 protected:
  HashOnce() { fs::create_directories(folder); }
  ~HashOnce() override { fs::remove_all(folder); }

  // A file that has been there for long.
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
    fs::last_write_time(folder / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  // What a build of these models hashes, without what it writes, or finds written: that is hashed once as a tensor and
  // once as a part of the file.
  uint64_t hashed_by_build(const std::vector<std::string>& models, const std::string& status) const {
    const uint64_t before = hashed_bytes();
    BuildRequest request;
    request.output_dir = (folder / "out").string();
    request.validate = false;
    for (const std::string& model : models) request.models.push_back({(folder / model).string(), ""});
    Build build(std::move(request));
    const auto report = build.run();
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    const Json parsed = Json::parse(*report);
    EXPECT_EQ(text_in(parsed, "status"), status) << *report;
    const uint64_t packed = static_cast<uint64_t>(integer_in(member(parsed, "group"), "packed_bytes"));
    return hashed_bytes() - before - 2 * packed;
  }

  const fs::path folder = fs::temp_directory_path() / ("tenon-hash-once-" + std::to_string(::getpid()));
};

TEST_F(HashOnce, WeightsInsideAModel) {
  write("a.onnx", product(false));
  EXPECT_LT(hashed_by_build({"a.onnx"}, "compiled"), kWeightBytes + kRest);
  // Nothing is left to hash of a file that was hashed before.
  EXPECT_LT(hashed_by_build({"a.onnx"}, "up to date"), kRest);
}

TEST_F(HashOnce, WeightsThatModelsShareInAFile) {
  write("w.data", std::string(kWeightBytes, '\1'));
  write("a.onnx", product(true));
  write("b.onnx", product(true) + onnx_text::bytes(6, "another model"));
  EXPECT_LT(hashed_by_build({"a.onnx", "b.onnx"}, "compiled"), kWeightBytes + kRest);
  EXPECT_LT(hashed_by_build({"a.onnx", "b.onnx"}, "up to date"), kRest);
}

// Also by all stages together, and a data file once for all models.
TEST_F(HashOnce, WeightsOfAStagedBuild) {
  write("w.data", std::string(kWeightBytes, '\2'));
  write("a.onnx", product(true));
  write("b.onnx", product(true) + onnx_text::bytes(6, "another model"));
  write("c.onnx", product(false));
  BuildRequest request;
  request.output_dir = (folder / "staged").string();
  request.validate = false;
  request.cache.is_on = false;
  request.staged.is_on = request.optimize.is_on = true;
  for (const char* model : {"a.onnx", "b.onnx", "c.onnx"}) request.models.push_back({(folder / model).string(), ""});
  const uint64_t before = hashed_bytes();
  Build build(std::move(request));
  const auto report = build.run();
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  const Json manifest = Json::parse(*report);
  EXPECT_EQ(text_in(manifest, "status"), "built") << *report;
  const Json& group = member(member(manifest, "report"), "group");
  const uint64_t packed = static_cast<uint64_t>(integer_in(group, "packed_bytes"));
  EXPECT_LT(hashed_bytes() - before - 2 * packed, 2 * kWeightBytes + kRest);
  const auto read = static_cast<uint64_t>(integer_in(manifest, "bytes_read"));
  EXPECT_GE(read, 2 * kWeightBytes);
  EXPECT_LT(read, 2 * kWeightBytes + kRest);
}

TEST_F(HashOnce, AFileThatWasWrittenToIsHashedAgain) {
  write("a.onnx", product(false));
  hashed_by_build({"a.onnx"}, "compiled");
  std::string changed = product(false);
  changed[changed.size() / 2] ^= 1;
  write("a.onnx", changed);
  BuildRequest request;
  request.output_dir = (folder / "out").string();
  request.validate = false;
  request.models.push_back({(folder / "a.onnx").string(), ""});
  Build build(std::move(request));
  const auto report = build.run();
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report->find("not up to date"), std::string::npos) << *report;
}

}  // namespace
}  // namespace tenon::build
