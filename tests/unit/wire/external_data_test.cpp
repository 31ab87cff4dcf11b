#include "wire/external_data.h"

#include <unistd.h>

#include <thread>

#include "unit/base/temporary_folder.h"
#include "unit/wire/sample_model.h"

namespace tenon::wire {
namespace {

class FolderExternalDataTest : public ::testing::TestWithParam<Loading> {
 protected:
  void SetUp() override {
    model_ = folder_.write("model.onnx", "model");
    folder_.write("weights", "0123456789");
  }
  std::shared_ptr<FolderExternalData> open() {
    auto external = FolderExternalData::of_model(model_, GetParam());
    EXPECT_TRUE(external.ok()) << external.status().to_string();
    return external.ok() ? *external : nullptr;
  }
  TemporaryFolder folder_;
  std::string model_;
};

TEST_P(FolderExternalDataTest, ReadsRegions) {
  const auto external = open();
  EXPECT_EQ(external->read("weights", 2, 3)->bytes, "234");
  EXPECT_EQ(external->read("weights", 7, -1)->bytes, "789");
  EXPECT_EQ(external->read("weights", 10, 0)->bytes, "");
}

TEST_P(FolderExternalDataTest, RefusesRegionsOutsideOfTheFile) {
  const auto external = open();
  for (auto [offset, length] : std::vector<std::pair<int64_t, int64_t>>{
           {11, 0}, {11, -1}, {8, 3}, {0, 11}, {-1, 1}, {1, INT64_MAX}, {INT64_MAX, INT64_MAX}}) {
    const auto region = external->read("weights", offset, length);
    ASSERT_FALSE(region.ok()) << offset << " " << length;
    EXPECT_EQ(region.status().code(), Code::InvalidModel);
    EXPECT_NE(region.status().message().find("'weights'"), std::string::npos);
  }
  EXPECT_EQ(external->read("missing", 0, 1).status().code(), Code::NotFound);
  EXPECT_EQ(external->read("../weights", 0, 1).status().code(), Code::InvalidModel);
}

TEST_P(FolderExternalDataTest, TheRegionOutlivesTheReader) {
  ExternalData::Region region;
  {
    const auto external = open();
    region = *external->read("weights", 0, 4);
  }
  std::filesystem::remove(folder_ / "weights");
  EXPECT_EQ(region.bytes, "0123");
}

TEST_P(FolderExternalDataTest, ReadsPastTwoGigabytes) {
  const int64_t size = (int64_t{5} << 30) + 8;
  folder_.write("sparse", "");
  std::filesystem::resize_file(folder_ / "sparse", static_cast<uintmax_t>(size));
  {
    std::fstream file(folder_ / "sparse", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(size - 8);
    file << "the end.";
  }
  const auto region = open()->read("sparse", size - 8, 8);
  ASSERT_TRUE(region.ok()) << region.status().to_string();
  EXPECT_EQ(region->bytes, "the end.");
  EXPECT_FALSE(open()->read("sparse", size - 8, 9).ok());
}

TEST_P(FolderExternalDataTest, DecodesTensors) {
  folder_.write("floats", "xxxx" + little_endian<float>({1.5f, -2.0f}));
  const auto external = open();
  MessageBuilder builder;
  const int64_t dims[] = {2};
  const auto code = [&](const TensorProto& proto) {
    return decode_tensor(proto, nullptr, external.get()).status().code();
  };
  const auto tensor =
      decode_tensor(builder.make_tensor_external("e", DType::Float32, dims, "floats", 4, 8), nullptr, external.get());
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_EQ(tensor->as<float>()[0], 1.5f);
  EXPECT_EQ(tensor->as<float>()[1], -2.0f);
  EXPECT_EQ(code(builder.make_tensor_external("e", DType::Float32, dims, "floats", 4, 4)), Code::InvalidModel);
  EXPECT_EQ(code(builder.make_tensor_external("e", DType::Float32, dims, "floats", 8, 8)), Code::InvalidModel);
  EXPECT_EQ(code(builder.make_tensor_external("e", DType::String, dims, "floats", 4, 8)), Code::InvalidModel);
  EXPECT_EQ(code(builder.make_tensor_external("e", DType::Float32, dims, "", 4, 8)), Code::InvalidModel);
  TensorProto proto = builder.make_tensor_external("e", DType::Float32, dims, "floats", 4, 8);
  EXPECT_EQ(decode_tensor(proto, nullptr, nullptr).status().code(), Code::InvalidArgument);
  proto.external_data.pop_back();  // without a length, the dims say it
  EXPECT_EQ(code(proto), Code::Ok);
  proto.external_data.back().value = "-4";
  EXPECT_EQ(code(proto), Code::InvalidModel);
  proto.external_data.back().value = "4x";
  EXPECT_EQ(code(proto), Code::InvalidModel);
  proto.external_data.back().value = "99999999999999999999";
  EXPECT_EQ(code(proto), Code::InvalidModel);
}

INSTANTIATE_TEST_SUITE_P(Loading, FolderExternalDataTest, ::testing::Values(Loading::Map, Loading::Copy));

TEST(FolderExternalData, MapsEachFileOnce) {
  TemporaryFolder folder;
  const auto model = folder.write("model.onnx", "");
  folder.write("weights", "0123456789");
  const auto external = *FolderExternalData::of_model(model);
  std::vector<const char*> starts(8);
  std::vector<std::thread> threads;
  for (auto& start : starts) threads.emplace_back([&] { start = external->read("weights", 0, 10)->bytes.data(); });
  for (auto& thread : threads) thread.join();
  for (const char* start : starts) EXPECT_EQ(start, starts[0]);
  EXPECT_EQ(external->read("weights", 3, 1)->bytes.data(), starts[0] + 3);
}

TEST(FolderExternalData, ServesAModelThatComesAsBytes) {
  TemporaryFolder folder;
  folder.write("weights", "0123456789");
  const auto external = FolderExternalData::in_folder(folder.path().string());
  ASSERT_TRUE(external.ok());
  EXPECT_EQ((*external)->read("weights", 0, 2)->bytes, "01");
}

}  // namespace
}  // namespace tenon::wire
