#include "weights/weight_source.h"

#include "unit/base/temporary_folder.h"

namespace tenon {
namespace {

std::unique_ptr<WeightSource> in_folder(const TemporaryFolder& folder, DType dtype, std::vector<int64_t> dims,
                                        int64_t bytes) {
  auto source =
      weights_in_folder(folder.path().string(), {{"w", {{dtype, std::move(dims), true}, {"data", 0, bytes}}}});
  EXPECT_TRUE(source.ok()) << source.status().to_string();
  return source.ok() ? std::move(*source) : nullptr;
}

TEST(FolderSource, ReadsElementsAsTheyAre) {
  TemporaryFolder folder;
  folder.write("data", std::string("\1\2\3\4", 4));
  const auto tensor = in_folder(folder, DType::UInt8, {2, 2}, 4)->read("w");
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(tensor->as<uint8_t>()[3], 4);
}

TEST(FolderSource, RefusesSizesThatDoNotFit) {
  TemporaryFolder folder;
  folder.write("data", "01234567");
  EXPECT_FALSE(in_folder(folder, DType::UInt8, {2, 2}, 5)->read("w").ok());
  EXPECT_FALSE(in_folder(folder, DType::UInt8, {9}, 9)->read("w").ok());
}

// Bytes of a file would be taken for string objects, pointers and all.
TEST(FolderSource, RefusesStrings) {
  TemporaryFolder folder;
  folder.write("data", std::string(sizeof(std::string), 'A'));
  const auto tensor = in_folder(folder, DType::String, {1}, sizeof(std::string))->read("w");
  ASSERT_FALSE(tensor.ok());
  EXPECT_NE(tensor.status().to_string().find("'w' holds strings"), std::string::npos) << tensor.status().to_string();
}

}  // namespace
}  // namespace tenon
