// Optimized models as files, with their weights wherever these were.
#include <gmock/gmock.h>
#include <unistd.h>
#include <tenon/tenon.hpp>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string external_weight(const std::string& name, const std::vector<int64_t>& dims, const std::string& file) {
  std::string tensor;
  for (int64_t extent : dims) tensor += onnx_text::number(1, extent);
  return tensor + onnx_text::number(2, onnx_text::kFloat) + onnx_text::bytes(8, name) +
         onnx_text::bytes(13, onnx_text::bytes(1, "location") + onnx_text::bytes(2, file)) + onnx_text::number(14, 1);
}

// y = identity(x) + a + b, whose weights of 400 numbers are in two files.
std::string sum_of_files(const std::string& first, const std::string& second) {
  onnx_text::Model model;
  model.nodes = {{"Identity", {"x"}, {"same"}, "pass", "", {}},
                 {"Add", {"same", "a"}, {"sum"}, "first", "", {}},
                 {"Add", {"sum", "b"}, {"y"}, "second", "", {}}};
  model.inputs = {onnx_text::value("x", onnx_text::tensor_type(onnx_text::kFloat, {400}))};
  model.outputs = {onnx_text::value("y", onnx_text::tensor_type(onnx_text::kFloat, {400}))};
  model.weights = {external_weight("a", {400}, first), external_weight("b", {400}, second)};
  return model.to_bytes();
}

class SaveOptimized : public testing::Test {
 protected:
  SaveOptimized() : weight(400) {
    fs::create_directories(folder);
    std::iota(weight.begin(), weight.end(), 0.0f);
  }
  ~SaveOptimized() override { fs::remove_all(folder); }

  std::string in_folder(const std::string& name) const { return (folder / name).string(); }
  std::vector<std::string> written() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(weight.data()), 4 * weight.size()}; }
  tenon::Model model(const std::string& first = "a", const std::string& second = "b") const {
    tenon::Options options;
    options.add_file(first, bytes()).add_file(second, bytes());
    return tenon::Model::from_memory(sum_of_files(first, second), options);
  }
  float last_of_result(const std::string& path) const {
    std::vector<float> x(400, 1);
    const tenon::Session session(tenon::Model::load(path));
    return session.run({tenon::Value::tensor<float>({400}, x)})[0].data<float>().back();
  }

  const fs::path folder = fs::temp_directory_path() / ("tenon-save-optimized-" + std::to_string(::getpid()));
  std::vector<float> weight;
};

TEST_F(SaveOptimized, WeightsInMemoryGoInside) {
  const std::string report = tenon::save_optimized(model(), in_folder("net.onnx"));
  EXPECT_THAT(report, HasSubstr(R"("status": "optimized")"));
  EXPECT_THAT(written(), ElementsAre("net.onnx"));
  EXPECT_EQ(last_of_result(in_folder("net.onnx")), 799);
  EXPECT_THAT(tenon::optimize_file(in_folder("net.onnx"), in_folder("net.onnx"), {{"overwrite", "1"}}),
              HasSubstr(R"("evidence": "stamp")"));
}

TEST_F(SaveOptimized, OrIntoADataFile) {
  const std::string report = tenon::save_optimized(model(), in_folder("net.onnx"), {{"file_bytes", "1000"}});
  EXPECT_THAT(report, HasSubstr(R"("name": "net.onnx.data")"));
  EXPECT_THAT(written(), ElementsAre("net.onnx", "net.onnx.data"));
  EXPECT_EQ(fs::file_size(in_folder("net.onnx.data")), 3200u);
  EXPECT_EQ(last_of_result(in_folder("net.onnx")), 799);
  EXPECT_THAT(tenon::optimize_file(in_folder("net.onnx"), in_folder("net.onnx"), {{"overwrite", "1"}}),
              HasSubstr(R"("evidence": "stamp")"));
}

TEST_F(SaveOptimized, OneRegionIsStoredOnce) {
  tenon::save_optimized(model("both", "both"), in_folder("net.onnx"));
  EXPECT_EQ(fs::file_size(in_folder("net.onnx.data")), 1600u);
  EXPECT_EQ(last_of_result(in_folder("net.onnx")), 799);
}

TEST_F(SaveOptimized, NothingIsReplacedWithoutLeave) {
  for (const char* name : {"net.onnx", "net.onnx.data"}) {
    std::ofstream(in_folder(name)) << "somebody's";
    const auto error = error_of([&] { tenon::save_optimized(model(), in_folder("net.onnx"), {{"file_bytes", "0"}}); });
    EXPECT_EQ(error.code(), TN_INVALID_ARGUMENT);
    EXPECT_THAT(error.what(), HasSubstr(std::string(name) + "' exists"));
    EXPECT_THAT(written(), ElementsAre(name));
    fs::remove(in_folder(name));
  }
}

TEST_F(SaveOptimized, AModelThatCannotBeWrittenLeavesNoDataFile) {
  const tenon::Options outside{{"file_bytes", "0"}, {"overwrite", "1"}};
  fs::create_directories(in_folder("net.onnx"));
  const auto error = error_of([&] { tenon::save_optimized(model(), in_folder("net.onnx"), outside); });
  EXPECT_THAT(error.what(), HasSubstr("a folder"));
  EXPECT_THAT(written(), ElementsAre("net.onnx"));
}

TEST_F(SaveOptimized, TheOldDataFileStaysUntilTheModelIsReplaced) {
  const tenon::Options outside{{"file_bytes", "0"}, {"overwrite", "1"}};
  tenon::save_optimized(model(), in_folder("net.onnx"), outside);
  // Mapped, so that it is read from the file of then.
  const tenon::Model old = tenon::Model::load(in_folder("net.onnx"));
  tenon::save_optimized(model(), in_folder("net.onnx"), outside);
  EXPECT_THAT(written(), ElementsAre("net.onnx", "net.onnx.1.data"));
  EXPECT_EQ(last_of_result(in_folder("net.onnx")), 799);
  tenon::save_optimized(model(), in_folder("net.onnx"), outside);
  EXPECT_THAT(written(), ElementsAre("net.onnx", "net.onnx.data"));
  tenon::save_optimized(model(), in_folder("net.onnx"), {{"overwrite", "1"}});
  EXPECT_THAT(written(), ElementsAre("net.onnx"));
  EXPECT_EQ(last_of_result(in_folder("net.onnx")), 799);
}

TEST_F(SaveOptimized, DataFilesOfTheFolderStay) {
  std::ofstream(in_folder("both.bin"), std::ios::binary) << bytes();
  std::ofstream(in_folder("net.onnx"), std::ios::binary) << sum_of_files("both.bin", "both.bin");
  tenon::save_optimized(tenon::Model::load(in_folder("net.onnx")), in_folder("beside.onnx"), {{"file_bytes", "0"}});
  fs::create_directories(in_folder("elsewhere"));
  tenon::save_optimized(tenon::Model::load(in_folder("net.onnx")), in_folder("elsewhere/net.onnx"));
  EXPECT_THAT(written(), ElementsAre("beside.onnx", "both.bin", "elsewhere", "net.onnx"));
  EXPECT_EQ(last_of_result(in_folder("beside.onnx")), 799);
  fs::remove(in_folder("both.bin"));
  EXPECT_EQ(last_of_result(in_folder("elsewhere/net.onnx")), 799);
}

TEST_F(SaveOptimized, GivenWeightsAreWritten) {
  std::vector<float> given(400, 2);
  tenon::Options options;
  options.set_weight("a", tenon::Value::tensor<float>({400}, given)).add_file("b", bytes());
  const tenon::Model model = tenon::Model::from_memory(sum_of_files("missing", "b"), options);
  tenon::save_optimized(model, in_folder("net.onnx"));
  EXPECT_EQ(last_of_result(in_folder("net.onnx")), 402);
}

TEST_F(SaveOptimized, FromFileToFileWhereWeightsInsideWouldBeTooMany) {
  tenon::save_optimized(model(), in_folder("net.onnx"), {{"capability:remove-no-ops", "0"}});
  const std::string report =
      tenon::optimize_file(in_folder("net.onnx"), in_folder("small.onnx"), {{"file_bytes", "2000"}});
  EXPECT_THAT(report, HasSubstr(R"("name": "small.onnx.data")"));
  EXPECT_THAT(written(), ElementsAre("net.onnx", "small.onnx", "small.onnx.data"));
  EXPECT_EQ(last_of_result(in_folder("small.onnx")), 799);
}

TEST_F(SaveOptimized, WrongArguments) {
  EXPECT_EQ(code_of([&] { tenon::save_optimized(model(), in_folder("net.onnx"), {{"file_byte", "1"}}); }),
            TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::save_optimized(model(), in_folder("none/net.onnx")); }), TN_NOT_FOUND);
  tn_status* status = tn_model_save_optimized(nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(tn_status_code(status), TN_INVALID_ARGUMENT);
  tn_status_release(status);
}

}  // namespace
