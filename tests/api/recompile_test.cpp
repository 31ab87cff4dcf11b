// New weights that change what a plan was decided by.
#include <gmock/gmock.h>
#include <unistd.h>
#include <tenon/tenon.hpp>

#include <filesystem>
#include <fstream>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// y = x * [0, 1, ..., to - 1].
std::string counting(float to) {
  onnx_text::Model count;
  count.nodes = {{"Range", {"from", "to", "step"}, {"r"}, "count", "", {}},
                 {"Mul", {"x", "r"}, {"y"}, "scale", "", {}}};
  count.inputs = {onnx_text::value("x", onnx_text::tensor_type(onnx_text::kFloat, {1}))};
  count.outputs = {onnx_text::value("y", onnx_text::tensor_type(onnx_text::kFloat, {"n"}))};
  count.weights = {onnx_text::weight("from", {}, {0}), onnx_text::weight("to", {}, {to}),
                   onnx_text::weight("step", {}, {1})};
  return count.to_bytes();
}

std::vector<float> counted(const tenon::Session& session) {
  std::vector<float> x{2};
  const auto outputs = session.run({tenon::Value::tensor<float>({1}, x)});
  const auto values = outputs[0].data<float>();
  return {values.begin(), values.end()};
}

tenon::Source up_to(float& to) {
  tenon::Source source;
  source.add("to", tenon::Value::tensor<float>({}, std::span(&to, 1)));
  return source;
}

const tenon::Options kPartial{{"partial", "1"}}, kRecompile{{"partial", "1"}, {"recompile", "1"}};

TEST(Recompile, TheSessionGetsThePlanOfTheNewWeights) {
  tenon::Session session(tenon::Model::from_memory(counting(3)));
  float two = 2;
  EXPECT_EQ(code_of([&] { session.set_weights(up_to(two), kPartial); }), TN_GUARD_VIOLATED);
  const tn_type* const before = tn_session_output_type(session.get(), 0);
  const std::string report = session.set_weights(up_to(two), kRecompile);
  EXPECT_THAT(report, AllOf(HasSubstr("\"recompiled\": {"), HasSubstr("\"weight\": \"to\""), HasSubstr("Range")));
  EXPECT_THAT(counted(session), ElementsAre(0, 2));
  EXPECT_STREQ(tn_type_text(tn_session_output_type(session.get(), 0)), "float[2]");
  EXPECT_STREQ(tn_type_text(before), "float[3]");  // callers may still hold it
  EXPECT_STREQ(tn_session_output_node(session.get(), 0), "scale");
  EXPECT_THAT(session.set_weights(up_to(two), kRecompile), HasSubstr("\"recompiled\": null"));
}

TEST(Recompile, WeightsGoWithTheirPlan) {
  tenon::Session session(tenon::Model::from_memory(counting(3)));
  const tenon::Session fresh(tenon::Model::from_memory(counting(2)));
  const tenon::Weights before = session.weights();
  float two = 2;
  session.set_weights(up_to(two), kRecompile);
  EXPECT_EQ(code_of([&] { session.use_weights(before); }), TN_INCOMPATIBLE);
  session.use_weights(fresh.weights());
  EXPECT_THAT(counted(session), ElementsAre(0, 2));
}

TEST(Recompile, OptionsOfTheSessionStay) {
  tenon::Session session(tenon::Model::from_memory(counting(3)), {{"keep_values", "1"}});
  float two = 2;
  session.set_weights(up_to(two), kRecompile);
  std::vector<float> x{2};
  const auto outputs = session.run({tenon::Value::tensor<float>({1}, x)});
  ASSERT_GT(outputs.size(), 1u);  // y, and y once more as a value that is kept
  EXPECT_THAT(outputs.back().data<float>(), ElementsAre(0, 2));
}

TEST(Recompile, SeveralSessionsSwitchTogetherOrNotAtAll) {
  const tenon::Model model = tenon::Model::from_memory(counting(3));
  tenon::Session first(model), second(model);
  tenon::Session pinned = tenon::Artifact::compile("net", model, {{"pin:to", "1"}}).session();
  float two = 2;
  tenon::Session* const not_all[] = {&first, &pinned};
  EXPECT_EQ(code_of([&] { tenon::set_weights(not_all, up_to(two), kRecompile); }), TN_GUARD_VIOLATED);
  EXPECT_THAT(counted(first), ElementsAre(0, 2, 4));
  tenon::Session* const both[] = {&first, &second};
  tenon::set_weights(both, up_to(two), kRecompile);
  EXPECT_THAT(counted(first), ElementsAre(0, 2));
  EXPECT_THAT(counted(second), ElementsAre(0, 2));
}

class RecompiledFiles : public testing::Test {
 protected:
  RecompiledFiles() {
    fs::create_directories(folder / "model");
    std::ofstream(folder / "model/net.onnx", std::ios::binary) << counting(3);
    tenon::Artifact::compile("net", tenon::Model::load((folder / "model/net.onnx").string()))
        .save(folder.string(), std::vector<std::string>{"net_ctx.onnx"});
  }
  ~RecompiledFiles() override { fs::remove_all(folder); }
  const fs::path folder = fs::temp_directory_path() / ("tenon-recompile-test-" + std::to_string(::getpid()));
};

TEST_F(RecompiledFiles, TheirModelIsLookedFor) {
  const std::string path = (folder / "net_ctx.onnx").string();
  float two = 2;
  tenon::Session without = tenon::Artifact::load(path).session();
  const tenon::Error refusal = error_of([&] { without.set_weights(up_to(two), kRecompile); });
  EXPECT_EQ(refusal.code(), TN_GUARD_VIOLATED);
  EXPECT_THAT(refusal.what(), AllOf(HasSubstr("'to'"), HasSubstr("net.onnx"), HasSubstr("source_dir")));
  EXPECT_THAT(counted(without), ElementsAre(0, 2, 4));
  tenon::Session with =
      tenon::Artifact::load(path, tenon::Options{{"source_dir:" + (folder / "model").string(), "1"}}).session();
  EXPECT_THAT(with.set_weights(up_to(two), kRecompile), HasSubstr("\"weight\": \"to\""));
  EXPECT_THAT(counted(with), ElementsAre(0, 2));
}

}  // namespace
