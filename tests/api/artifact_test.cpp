// Compiled models: from models to files and back, and weights that change without a compiler.
#include <gmock/gmock.h>
#include <unistd.h>
#include <tenon/tenon.hpp>

#include <filesystem>
#include <fstream>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Artifacts : public testing::Test {
 protected:
  Artifacts() { fs::create_directories(folder); }
  ~Artifacts() override { fs::remove_all(folder); }

  // relu(x * w + b) for x = [1, 1].
  static std::vector<float> output(const tenon::Session& session) {
    std::vector<float> x{1, 1};
    const auto outputs = session.run({tenon::Value::tensor<float>({1, 2}, x)});
    const auto values = outputs[0].data<float>();
    return {values.begin(), values.end()};
  }
  // w is all 5 and b is all 1.
  tenon::Source tuned() {
    tenon::Source source;
    source.add("w", tenon::Value::tensor<float>({2, 2}, fives)).add("b", tenon::Value::tensor<float>({2}, ones));
    return source;
  }
  std::string in_folder(const std::string& name) const { return (folder / name).string(); }

  const fs::path folder = fs::temp_directory_path() / ("tenon-artifact-test-" + std::to_string(::getpid()));
  std::vector<float> fives = std::vector<float>(4, 5.0f), ones{1, 1};
  const std::vector<std::string> name{"net_ctx.onnx"};
  tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  tenon::Artifact artifact = tenon::Artifact::compile("net", model, {{"sources", "embed"}});
};

TEST_F(Artifacts, RunFromMemoryAndFromFiles) {
  EXPECT_THAT(artifact.models(), ElementsAre("net"));
  EXPECT_THAT(output(artifact.session()), ElementsAre(0, 7));
  artifact.save(folder.string(), name);
  EXPECT_THAT(output(tenon::Artifact::load(in_folder(name[0])).session()), ElementsAre(0, 7));
  EXPECT_THAT(output(tenon::Session(tenon::Model::load(in_folder(name[0])))), ElementsAre(0, 7));
}

TEST_F(Artifacts, ContextFilesSayWhatTheyAre) {
  std::ofstream(in_folder("net.onnx")) << onnx_text::linear();
  artifact.save(folder.string(), name);
  EXPECT_FALSE(tenon::is_context_file(in_folder("net.onnx")));
  EXPECT_TRUE(tenon::is_context_file(in_folder(name[0])));
  const std::string described = tenon::describe_context_file(in_folder(name[0]));
  EXPECT_THAT(described, HasSubstr("\"weights_file\": \"net-"));
  EXPECT_EQ(code_of([&] { tenon::describe_context_file(in_folder("net.onnx")); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::describe_context_file(in_folder("none.onnx")); }), TN_NOT_FOUND);
}

TEST_F(Artifacts, StagedFilesGoUnlessTheyArePublished) {
  {
    const tenon::Publication staged = artifact.stage(folder.string(), name);
    EXPECT_TRUE(fs::exists(staged.path(0)));
    EXPECT_FALSE(fs::exists(in_folder(name[0])));
  }
  EXPECT_TRUE(fs::is_empty(folder));
  tenon::Publication staged = artifact.stage(folder.string(), name);
  staged.publish();
  EXPECT_TRUE(fs::exists(in_folder(name[0])));
  EXPECT_EQ(fs::file_size(in_folder(staged.weights_name())), static_cast<uintmax_t>(staged.weights_bytes()));
  EXPECT_EQ(code_of([&] { artifact.save(folder.string(), name); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { artifact.save(folder.string(), name, {{"overwrite", "1"}}); }), TN_OK);
}

TEST_F(Artifacts, TidyingRemovesOnlyWhatNobodyNames) {
  artifact.save(folder.string(), name);
  const std::string stray = in_folder("net-01234567.bin"), other = in_folder("dog-01234567.bin");
  fs::create_directory(folder / ".tenon-1-0");
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".bin") {
      fs::copy_file(entry.path(), stray);
      fs::copy_file(entry.path(), other);
      break;
    }
  tenon::tidy_folder(folder.string(), "net");
  EXPECT_FALSE(fs::exists(stray));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_THAT(output(tenon::Artifact::load(in_folder(name[0])).session()), ElementsAre(0, 7));
}

TEST_F(Artifacts, SwappedWeights) {
  tenon::Session session = artifact.session();
  const tenon::Weights before = session.weights();
  EXPECT_THAT(session.set_weights(tuned()), HasSubstr("\"replaced\""));
  EXPECT_THAT(output(session), ElementsAre(11, 11));
  session.use_weights(before);
  EXPECT_THAT(output(session), ElementsAre(0, 7));
  const tenon::Error error = error_of([&] {
    std::vector<float> three(3);
    tenon::Source wrong;
    wrong.add("b", tenon::Value::tensor<float>({3}, three));
    session.set_weights(wrong, {{"strict", "1"}});
  });
  EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("'b'"), HasSubstr("'w'")));
  EXPECT_THAT(output(session), ElementsAre(0, 7));
}

TEST_F(Artifacts, WeightsGivenWithASession) {
  tenon::Options options, unknown;
  options.set_weight("w", tenon::Value::tensor<float>({2, 2}, fives));
  unknown.set_weight("nothing", tenon::Value::tensor<float>({2, 2}, fives));
  EXPECT_THAT(output(artifact.session(0, options)), ElementsAre(0, 11));
  EXPECT_THAT(output(artifact.session()), ElementsAre(0, 7));
  EXPECT_EQ(code_of([&] { artifact.session(0, unknown); }), TN_NOT_FOUND);
}

// A session made from a model takes weights as a swap does.
TEST(GivenWeights, WhatThePlanWasDecidedByStays) {
  onnx_text::Model count;
  count.nodes = {{"Range", {"from", "to", "step"}, {"r"}, "count", "", {}},
                 {"Mul", {"x", "r"}, {"y"}, "scale", "", {}}};
  count.inputs = {onnx_text::value("x", onnx_text::tensor_type(onnx_text::kFloat, {1}))};
  count.outputs = {onnx_text::value("y", onnx_text::tensor_type(onnx_text::kFloat, {6}))};
  count.weights = {onnx_text::weight("from", {}, {0}), onnx_text::weight("to", {}, {6}),
                   onnx_text::weight("step", {}, {1})};
  const tenon::Model model = tenon::Model::from_memory(count.to_bytes());
  std::vector<float> three{3}, six{6};
  tenon::Options other, same;
  other.set_weight("to", tenon::Value::tensor<float>({}, three));
  same.set_weight("to", tenon::Value::tensor<float>({}, six));
  EXPECT_EQ(code_of([&] { tenon::Session(model, other); }), TN_GUARD_VIOLATED);
  EXPECT_EQ(code_of([&] { tenon::Session(model, same); }), TN_OK);
}

TEST_F(Artifacts, SeveralSessionsSwitchTogether) {
  tenon::Session first = artifact.session(), second = artifact.session();
  tenon::Session* const both[] = {&first, &second};
  tenon::set_weights(both, tuned());
  EXPECT_THAT(output(first), ElementsAre(11, 11));
  EXPECT_THAT(output(second), ElementsAre(11, 11));
}

TEST_F(Artifacts, BakedStrippedAndExported) {
  const tenon::Artifact baked = artifact.bake(tuned());
  EXPECT_THAT(output(baked.session()), ElementsAre(11, 11));
  EXPECT_THAT(output(artifact.session()), ElementsAre(0, 7));  // the template stays as it is
  tenon::Session session = artifact.session();
  session.use_weights(baked.weights());
  EXPECT_THAT(output(session), ElementsAre(11, 11));

  const tenon::Artifact empty = artifact.strip();
  EXPECT_THAT(error_of([&] { output(empty.session()); }).what(), HasSubstr("weights"));
  EXPECT_THAT(output(empty.bake(tuned()).session()), ElementsAre(11, 11));

  baked.export_sources(in_folder("w.safetensors"));
  EXPECT_THAT(tenon::Source::open(in_folder("w.safetensors")).names(), ElementsAre("b", "w"));
  EXPECT_THAT(output(artifact.bake(tenon::Source::open(in_folder("w.safetensors"))).session()), ElementsAre(11, 11));
}

TEST_F(Artifacts, DeferredWeightsAreFilledLater) {
  const tenon::Artifact open = tenon::Artifact::compile("net", model, {{"defer_weights", "1"}});
  open.save(folder.string(), name);
  tenon::Session session = tenon::Artifact::load(in_folder(name[0])).session();
  EXPECT_EQ(code_of([&] { output(session); }), TN_NOT_FOUND);
  session.set_weights(tuned());
  EXPECT_THAT(output(session), ElementsAre(11, 11));
}

TEST_F(Artifacts, WrongCalls) {
  EXPECT_EQ(code_of([&] { tenon::Artifact::compile("net", model, {{"sources", "some"}}); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::Artifact::compile("net", model, {{"pin:none", "1"}}); }), TN_NOT_FOUND);
  EXPECT_EQ(code_of([&] { artifact.describe("everything"); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { artifact.session(1); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::Artifact::load(in_folder("none_ctx.onnx")); }), TN_NOT_FOUND);
  EXPECT_EQ(code_of([&] { artifact.save(folder.string(), {}); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::Artifact::compile(std::span<const std::pair<std::string, const tenon::Model*>>()); }),
            TN_INVALID_ARGUMENT);
}

}  // namespace
