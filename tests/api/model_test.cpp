// Models: from files and memory, options, metadata, what they say of themselves.
#include <gmock/gmock.h>
#include <tenon/respelled.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(Model, LoadsFromPathAndMemory) {
  const std::string path = testing::TempDir() + "/model_test.onnx";
  const std::string bytes = onnx_text::linear();
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(tenon::Model::load(path).input_count(), 1u);
  EXPECT_EQ(tenon::Model::load(path, {{"map", "0"}}).input_count(), 1u);
  std::filesystem::remove(path);
  const tenon::Model model = tenon::Model::from_memory(bytes);
  EXPECT_EQ(model.to_memory(), bytes);
  EXPECT_EQ(error_of([&] { tenon::Model::load(path); }).code(), TN_NOT_FOUND);
  EXPECT_EQ(error_of([&] { tenon::Model::from_memory(bytes.substr(0, 40)); }).code(), TN_INVALID_MODEL);
}

TEST(Model, IsWrittenAnew) {
  const tenon::RespelledModel respelled = tenon::respelled(tenon::Model::from_memory(onnx_text::linear()));
  const tenon::Model again = tenon::Model::from_memory(respelled.model);
  EXPECT_EQ(again.describe("graph"), tenon::Model::from_memory(onnx_text::linear()).describe("graph"));
  EXPECT_THAT(respelled.report, HasSubstr(R"("kept":[])"));
  EXPECT_THAT(respelled.report, HasSubstr(R"("respelled":3)"));

  tn_status* status = tn_model_respell(nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(tn_status_code(status), TN_INVALID_ARGUMENT);
  tn_status_release(status);
}

TEST(Model, SavesWhatItRead) {
  const std::string path = testing::TempDir() + "/model_test_saved.onnx";
  tenon::Model::from_memory(onnx_text::linear()).save(path);
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), onnx_text::linear());
  std::filesystem::remove(path);
}

TEST(Model, UnknownOptionsAreErrorsThatNameTheNearest) {
  const auto error = error_of([] { tenon::Model::from_memory(onnx_text::linear(), {{"mop", "1"}}); });
  EXPECT_EQ(error.code(), TN_INVALID_ARGUMENT);
  EXPECT_THAT(error.what(), HasSubstr("did you mean 'map'"));
  const tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  EXPECT_EQ(error_of([&] { tenon::Session(model, {{"dims", "1"}}); }).code(), TN_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { tenon::Session(model, {{"memory_limit", "lots"}}); }).code(), TN_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([] { tenon::Context({{"threads", "-1"}}); }).code(), TN_INVALID_ARGUMENT);
}

TEST(Model, ComparesByWhatItsNodesExplain) {
  const tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  const std::string name = model.output_name(0);
  const auto values = [](const char* text) { return tenon::Value::from_json(TN_FLOAT32, text); };
  const tn_comparison near = model.compare(name, values("[1000, 0.01]"), values("[1000, 0]"));
  EXPECT_EQ(near.mismatches, 0) << "a share of the largest number";
  EXPECT_GT(near.allowed_abs, 0.01);
  EXPECT_LT(near.allowed_abs, 1);
  EXPECT_EQ(model.compare(name, values("[1000, 1]"), values("[1000, 0]")).mismatches, 1);
  EXPECT_EQ(error_of([&] { model.compare("no such", values("1"), values("1")); }).code(), TN_NOT_FOUND);
  // A caller that knows the first version of the struct gets its fields and no more.
  tn_comparison old{};
  old.size = offsetof(tn_comparison, allowed_abs);
  old.ties = 42;
  ASSERT_EQ(tn_model_compare(model.get(), name.c_str(), values("2").get(), values("1").get(), nullptr, &old), nullptr);
  EXPECT_EQ(old.mismatches, 1);
  EXPECT_EQ(old.ties, 42);
  EXPECT_THAT(model.describe("tolerances"), HasSubstr("share"));
}

TEST(Model, TellsMetadataAndProperties) {
  const tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  EXPECT_THAT(model.metadata(), ElementsAre(Pair("author", "somebody"), Pair("license", "any")));
  EXPECT_EQ(model.property("producer_name"), "by hand");
  EXPECT_EQ(model.property("graph_name"), "example");
  EXPECT_EQ(model.property("ir_version"), "10");
  EXPECT_EQ(tn_model_property(model.get(), "version"), nullptr) << "the model gives none";
  EXPECT_EQ(tn_model_property(model.get(), "no such"), nullptr);
  EXPECT_EQ(tn_model_metadata_key(model.get(), 2), nullptr);
  EXPECT_THAT(model.warnings(), ElementsAre());
}

TEST(Model, TellsInputsAndOutputsWithSymbols) {
  const tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  EXPECT_EQ(model.input_name(0), "x");
  EXPECT_EQ(model.input_type(0).text(), "float[n, 2]");
  EXPECT_THAT(*model.input_type(0).dims(), ElementsAre(-1, 2));
  EXPECT_EQ(model.input_type(0).dim_text(0), "n");
  EXPECT_EQ(model.output_name(0), "y");
  EXPECT_EQ(model.output_type(0).dtype(), TN_FLOAT32);
  EXPECT_EQ(tn_model_input_name(model.get(), 1), nullptr);
  EXPECT_EQ(tn_model_output_type(model.get(), 1), nullptr);
}

TEST(Model, RefusesDimensionsItDoesNotHave) {
  const tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  const auto error = error_of([&] { tenon::Session(model, {{"dim:m", "3"}}); });
  EXPECT_EQ(error.code(), TN_INVALID_ARGUMENT);
  EXPECT_THAT(error.what(), HasSubstr("no dimension named 'm'; its inputs have 'n'"));
  std::vector<tenon::Value> inputs(1);
  EXPECT_EQ(error_of([&] { model.fill_inputs(inputs, {{"dim:m", "3"}}); }).code(), TN_INVALID_ARGUMENT);
  EXPECT_THAT(*tenon::Session(model, {{"dim:n", "3"}}).input_type(0).dims(), ElementsAre(3, 2));
}

TEST(Model, NamesOnlyTheExtentsThatTheFileNames) {
  using namespace onnx_text;
  const tenon::Model model = tenon::Model::from_memory(identity(tensor_type(1, {"_0", 2, "n"})));
  EXPECT_EQ(model.input_type(0).dim_name(0), "_0");
  EXPECT_EQ(model.input_type(0).dim_name(1), "");
  EXPECT_EQ(model.output_type(0).dim_name(2), "n");
  EXPECT_EQ(tenon::Session(model).input_type(0).dim_name(0), "_0");
  const tenon::Model unnamed = tenon::Model::from_memory(identity(tensor_type(1, {-1})));
  EXPECT_EQ(unnamed.input_type(0).dim_name(0), "");
}

TEST(Model, DescribesItself) {
  const tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  EXPECT_THAT(model.describe("ops"), HasSubstr("\"MatMul\": 1"));
  EXPECT_THAT(model.describe("summary,plan"), HasSubstr("cpu/PackedMatMul"));
  EXPECT_EQ(error_of([&] { model.describe("colour"); }).code(), TN_INVALID_ARGUMENT);
}

TEST(Model, ReplacesWeights) {
  const tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  std::vector<float> b = {0, 0}, x = {1, 1};
  tenon::Options options;
  options.set_weight("b", tenon::Value::tensor<float>({2}, b));
  const auto outputs = tenon::Session(model, options).run({tenon::Value::tensor<float>({1, 2}, x)});
  EXPECT_THAT(outputs[0].data<float>(), ElementsAre(4, 6));
  tenon::Options unknown, wrong;
  unknown.set_weight("c", tenon::Value::tensor<float>({2}, b));
  EXPECT_EQ(error_of([&] { tenon::Session(model, unknown); }).code(), TN_NOT_FOUND);
  wrong.set_weight("b", tenon::Value::tensor<float>({1, 2}, b));
  EXPECT_EQ(error_of([&] { tenon::Session(model, wrong); }).code(), TN_INVALID_ARGUMENT);
}

TEST(Model, MakesInputs) {
  const tenon::Model model = tenon::Model::from_memory(onnx_text::linear());
  std::vector<tenon::Value> a(1), b(1), c(1);
  model.fill_inputs(a, {{"seed", "1"}, {"dim:n", "3"}});
  model.fill_inputs(b, {{"seed", "1"}, {"shape:x", "3,2"}});
  model.fill_inputs(c, {{"seed", "2"}, {"dim:n", "3"}});
  EXPECT_THAT(a[0].dims(), ElementsAre(3, 2));
  EXPECT_EQ(a[0].compare(b[0], 0, 0).mismatches, 0);
  EXPECT_GT(a[0].compare(c[0], 0, 0).mismatches, 0);
  for (float element : a[0].data<float>()) EXPECT_LE(std::abs(element), 1.0f);
  tn_value* kept = a[0].get();
  model.fill_inputs(a, {{"seed", "9"}});
  EXPECT_EQ(a[0].get(), kept);
  std::vector<tenon::Value> two(2), one(1);
  EXPECT_EQ(error_of([&] { model.fill_inputs(two); }).code(), TN_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { model.fill_inputs(one, {{"shape:z", "1"}}); }).code(), TN_NOT_FOUND);
  EXPECT_EQ(error_of([&] { model.fill_inputs(one, {{"shape:x", "3,1"}}); }).code(), TN_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { model.fill_inputs(one, {{"shape:x", "3,"}}); }).code(), TN_INVALID_ARGUMENT);
}

}  // namespace
