#include "api/complete_example.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "api/onnx_text.h"

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CompleteExample, LoadsRunsAndPrints) {
  const std::filesystem::path folder = testing::TempDir();
  const std::filesystem::path model = folder / "complete_example.onnx", out = folder / "complete_example.txt";
  std::ofstream(model, std::ios::binary) << onnx_text::linear();
  EXPECT_EQ(complete_example(model.c_str(), out.c_str()), 0);
  EXPECT_EQ(read(out), "input x float[n, 2]\ny: 0 7 0 7\n");
  std::filesystem::remove(model);
  EXPECT_EQ(complete_example(model.c_str(), out.c_str()), 1);
  EXPECT_NE(read(out).find("error 3: "), std::string::npos) << read(out);
  std::filesystem::remove(out);
}

}  // namespace
