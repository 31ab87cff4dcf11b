// What the C++ wrapper adds: text that C would cut short is refused, models go by name, contexts are passed on.
#include <gmock/gmock.h>
#include <unistd.h>
#include <tenon/tenon.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> output(const tenon::Session& session) {
  std::vector<float> x{1, 1};
  const auto outputs = session.run({tenon::Value::tensor<float>({1, 2}, x)});
  const auto values = outputs[0].data<float>();
  return {values.begin(), values.end()};
}

class Wrapper : public testing::Test {
 protected:
  Wrapper() { fs::create_directories(folder); }
  ~Wrapper() override { fs::remove_all(folder); }

  // Two models with the same graph; the bias of the second is all 7.
  tenon::Artifact two() {
    const tenon::Options other = std::move(tenon::Options().set_weight("b", tenon::Value::tensor<float>({2}, sevens)));
    const auto second = tenon::Model::from_memory(onnx_text::linear(), other);
    const std::pair<std::string, const tenon::Model*> models[] = {{"first", &model}, {"second", &second}};
    return tenon::Artifact::compile(models, {{"sources", "embed"}});
  }
  std::string in_folder(const std::string& name) const { return (folder / name).string(); }
  std::string bytes_of(const std::string& name) const {
    std::ostringstream bytes;
    bytes << std::ifstream(in_folder(name), std::ios::binary).rdbuf();
    return bytes.str();
  }

  const fs::path folder = fs::temp_directory_path() / ("tenon-wrapper-test-" + std::to_string(::getpid()));
  const std::string cut = std::string("b\0x", 3);
  tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  std::vector<float> twos{2, 2}, sevens{7, 7};  // borrowed by values
  tenon::Value bias = tenon::Value::tensor<float>({2}, twos);
};

void expect_refused(const tenon::Error& error) {
  EXPECT_EQ(error.code(), TN_INVALID_ARGUMENT) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("b\\0x"));
}

TEST_F(Wrapper, ZeroBytesInNamesAreRefused) {
  expect_refused(error_of([&] { tenon::Source().add(cut, bias); }));
  expect_refused(error_of([&] { tenon::Options().set(cut, "1"); }));
  expect_refused(error_of([&] { tenon::Options().set("provider", cut); }));
  expect_refused(error_of([&] { tenon::Options().set_weight(cut, bias); }));
  expect_refused(error_of([&] { tenon::Options().add_file(cut, "bytes"); }));
  expect_refused(error_of([&] { tenon::Artifact::compile(cut, model); }));
  const std::vector<std::pair<std::string, tenon::Value>> arrays{{cut, bias}};
  expect_refused(error_of([&] { tenon::Npz::write(in_folder("a.npz"), arrays); }));
  expect_refused(error_of([&] { model.describe(cut); }));
  expect_refused(error_of([&] { model.property(cut); }));
}

TEST_F(Wrapper, ZeroBytesInPathsAreRefused) {
  const auto artifact = tenon::Artifact::compile("net", model);
  const std::vector<std::string> names{cut}, good{"net_ctx.onnx"};
  expect_refused(error_of([&] { tenon::Model::load(cut); }));
  expect_refused(error_of([&] { model.save(cut); }));
  expect_refused(error_of([&] { tenon::Source::open(cut); }));
  expect_refused(error_of([&] { tenon::Artifact::load(cut); }));
  expect_refused(error_of([&] { artifact.save(folder.string(), names); }));
  expect_refused(error_of([&] { artifact.save(cut, good); }));
  expect_refused(error_of([&] { artifact.stage(folder.string(), names); }));
  expect_refused(error_of([&] { artifact.export_sources(cut); }));
  expect_refused(error_of([&] { tenon::is_context_file(cut); }));
  expect_refused(error_of([&] { tenon::describe_context_file(cut); }));
  expect_refused(error_of([&] { tenon::tidy_folder(cut, "net"); }));
  expect_refused(error_of([&] { bias.write_npy(cut); }));
  expect_refused(error_of([&] { tenon::Value::read_npy(cut); }));
  expect_refused(error_of([&] { tenon::Npz{cut}; }));
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(Wrapper, ModelsGoByName) {
  const tenon::Artifact artifact = two();
  EXPECT_THAT(output(artifact.session("first")), ElementsAre(0, 7));
  EXPECT_THAT(output(artifact.session("second")), ElementsAre(11, 13));
  tenon::Session session = artifact.session("first");
  session.use_weights(artifact.weights("second"));
  EXPECT_THAT(output(session), ElementsAre(11, 13));
  const tenon::Error error = error_of([&] { artifact.session("third"); });
  EXPECT_EQ(error.code(), TN_NOT_FOUND);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("'third'"), HasSubstr("'first'"), HasSubstr("'second'")));
  EXPECT_EQ(code_of([&] { artifact.weights("third"); }), TN_NOT_FOUND);
}

TEST_F(Wrapper, FilesGetTheNamesOfTheModels) {
  two().save(folder.string());
  EXPECT_THAT(output(tenon::Artifact::load(in_folder("first_ctx.onnx")).session()), ElementsAre(0, 7));
  EXPECT_THAT(output(tenon::Artifact::load(in_folder("second_ctx.onnx")).session()), ElementsAre(11, 13));
  two().save(folder.string(), tenon::Options{{"overwrite", "1"}});
}

TEST_F(Wrapper, ContextsArePassedOn) {
  const tenon::Context context({{"threads", "1"}});
  const auto artifact = tenon::Artifact::compile("net", model, {{"sources", "embed"}}, &context);
  artifact.save(folder.string());
  const auto loaded = tenon::Artifact::load(in_folder("net_ctx.onnx"), {}, &context);
  std::string report;
  const auto baked = loaded.bake(tenon::Source().add("b", bias), {{"partial", "1"}}, &report, &context);
  EXPECT_THAT(report, HasSubstr("\"replaced\""));
  EXPECT_THAT(output(baked.session("net", {}, &context)), ElementsAre(6, 8));
  // Its limits are those of the context.
  const tenon::Context small({{"memory_limit", "1"}});
  EXPECT_EQ(code_of([&] { output(loaded.session(0, {}, &small)); }), TN_RESOURCE_LIMIT);
}

TEST_F(Wrapper, ContextFilesInMemory) {
  tenon::Artifact::compile("net", model).save(folder.string(), tenon::Options{{"embed", "1"}});
  EXPECT_THAT(output(tenon::Artifact::from_memory(bytes_of("net_ctx.onnx")).session()), ElementsAre(0, 7));
}

TEST_F(Wrapper, ContextFilesInMemoryWithWeightsInAFolder) {
  two().save(folder.string());
  const std::string bytes = bytes_of("second_ctx.onnx");
  EXPECT_EQ(code_of([&] { tenon::Artifact::from_memory(bytes); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::Artifact::from_memory(bytes, in_folder("nowhere")); }), TN_NOT_FOUND);
  EXPECT_THAT(output(tenon::Artifact::from_memory(bytes, folder.string()).session()), ElementsAre(11, 13));
}

}  // namespace
