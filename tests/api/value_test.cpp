// Values: strings, sequences, optionals, maps; text, comparison, files.
#include <gmock/gmock.h>
#include <tenon/tenon.hpp>

#include <filesystem>
#include <limits>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

using namespace onnx_text;
using testing::ElementsAre;
using testing::HasSubstr;

tenon::Value floats(const std::string& json) { return tenon::Value::from_json(TN_FLOAT32, json); }

tenon::Value through(const std::string& type, const tenon::Value& value) {
  return tenon::Session(tenon::Model::from_memory(identity(type))).run({value})[0];
}

TEST(Value, Strings) {
  const std::string words[] = {"oak", "", "ü\0x"};
  const tenon::Value y = through(tensor_type(kString, {"n"}), tenon::Value::strings({3}, words));
  EXPECT_EQ(y.dtype(), TN_STRING);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(y.string(i), words[i]);
  EXPECT_EQ(code_of([&] { y.string(3); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::Value::strings({2}, words); }), TN_INVALID_ARGUMENT);
}

TEST(Value, Sequences) {
  const tenon::Value items[] = {floats("[1, 2]"), floats("3")};
  const tenon::Value y = through(sequence_type(tensor_type(kFloat)), tenon::Value::sequence(items));
  EXPECT_EQ(y.kind(), TN_KIND_SEQUENCE);
  ASSERT_EQ(y.size(), 2u);
  EXPECT_THAT(y.at(0).data<float>(), ElementsAre(1, 2));
  EXPECT_THAT(y.at(1).data<float>(), ElementsAre(3));
  EXPECT_EQ(code_of([&] { y.at(2); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::Value::sequence({}); }), TN_INVALID_ARGUMENT);
}

TEST(Value, Optionals) {
  const std::string type = optional_type(tensor_type(kFloat, {"n"}));
  const tenon::Value full = through(type, tenon::Value::optional(floats("[5]")));
  EXPECT_EQ(full.kind(), TN_KIND_OPTIONAL);
  ASSERT_TRUE(full.item().has_value());
  EXPECT_THAT(full.item()->data<float>(), ElementsAre(5));
  const tenon::Value empty = through(
      type, tenon::Value::optional({}, tenon::Model::from_memory(identity(type)).input_type(0).element()->handle()));
  EXPECT_FALSE(empty.item().has_value());
}

TEST(Value, Maps) {
  Model model;
  model.nodes = {{"DictVectorizer",
                  {"x"},
                  {"y"},
                  "",
                  "ai.onnx.ml",
                  {strings_attribute("string_vocabulary", {"elm", "oak", "yew"})}}};
  model.inputs = {value("x", map_type(kString, tensor_type(kFloat, {})))};
  model.outputs = {value("y", tensor_type(kFloat, {1, 3}))};
  const tenon::Session session(tenon::Model::from_memory(model.to_bytes()));
  const std::string keys[] = {"oak", "elm"};
  const tenon::Value map = tenon::Value::map(tenon::Value::strings({2}, keys), floats("[2, 3]"));
  EXPECT_EQ(map.kind(), TN_KIND_MAP);
  EXPECT_EQ(map.keys_and_values().first.string(0), "oak");
  EXPECT_THAT(session.run({map})[0].data<float>(), ElementsAre(3, 2, 0));
  EXPECT_EQ(code_of([&] { tenon::Value::map(floats("[1]"), floats("[1]")); }), TN_INVALID_ARGUMENT);
}

TEST(Value, FromJson) {
  EXPECT_THAT(floats("[[1, 2.5], [\"inf\", -4]]").dims(), ElementsAre(2, 2));
  const std::vector<int64_t> shape = {2, 2}, scalar;
  EXPECT_THAT(tenon::Value::from_json(TN_INT8, "-3", &shape).data<int8_t>(), ElementsAre(-3, -3, -3, -3));
  EXPECT_THAT(tenon::Value::from_json(TN_BOOL, "[true, 0, 1, false]", &shape).data<bool>(), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(tenon::Value::from_json(TN_INT64, "[7]", &scalar).dims(), ElementsAre());
  EXPECT_EQ(tenon::Value::from_json(TN_STRING, "\"oak\"").string(0), "oak");
  EXPECT_THAT(tenon::Value::from_json(TN_FLOAT32, "[[], []]").dims(), ElementsAre(2, 0));
  for (const char* bad : {"", "[1, [2]]", "[[1], [2, 3]]", "{}", "null", "[1"})
    EXPECT_EQ(code_of([&] { floats(bad); }), TN_INVALID_ARGUMENT) << bad;
  EXPECT_EQ(code_of([&] { tenon::Value::from_json(TN_INT8, "[1, 2, 3]", &shape); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { tenon::Value::from_json(TN_INT8, "128"); }), TN_INVALID_ARGUMENT);
}

TEST(Value, Describe) {
  EXPECT_THAT(floats("[1, 2, \"nan\", \"inf\"]").describe(2),
              testing::AllOf(HasSubstr("\"type\":\"float[4]\""), HasSubstr("\"mean\":1.5"), HasSubstr("\"nan\":1"),
                             HasSubstr("\"infinite\":1"), HasSubstr("\"elements\":[1.0,2.0]")));
  EXPECT_THAT(floats("[0.1]").describe(), HasSubstr("\"elements\":[0.1]"));
  EXPECT_THAT(tenon::Value::from_json(TN_INT64, "[9223372036854775807]").describe(),
              HasSubstr("\"max\":9223372036854775807"));
  const tenon::Value item = floats("1");
  EXPECT_THAT(tenon::Value::sequence(std::span(&item, 1)).describe(), HasSubstr("\"count\":1"));
}

TEST(Value, Compare) {
  const tn_comparison c = floats("[1, 2, \"nan\", 4]").compare(floats("[1, 2.5, \"nan\", 4]"));
  EXPECT_EQ(c.comparable, 1);
  EXPECT_EQ(c.elements, 4);
  EXPECT_EQ(c.mismatches, 1);
  EXPECT_EQ(c.first_mismatch, 1);
  EXPECT_EQ(c.nan_pairs, 1);
  EXPECT_DOUBLE_EQ(c.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(c.max_rel, 0.2);
  EXPECT_EQ(floats("[1]").compare(floats("[1.2]"), 0.5, 0).mismatches, 0);
  EXPECT_EQ(floats("[1]").compare(floats("1")).comparable, 0);
  EXPECT_EQ(floats("[1]").compare(tenon::Value::from_json(TN_FLOAT64, "[1]")).comparable, 0);
  tn_comparison small{};
  small.size = 8;
  tn_status* status = tn_value_compare(floats("1").get(), floats("1").get(), 0, 0, &small);
  EXPECT_EQ(tn_status_code(status), TN_INVALID_ARGUMENT);
  tn_status_release(status);
}

TEST(Value, ArrayFiles) {
  const std::string npy = testing::TempDir() + "/value_test.npy", npz = testing::TempDir() + "/value_test.npz";
  floats("[[1, 2]]").write_npy(npy);
  EXPECT_THAT(tenon::Value::read_npy(npy).dims(), ElementsAre(1, 2));
  const tenon::Value narrow = tenon::Value::from_json(TN_BFLOAT16, "[1, -2]");
  const std::pair<std::string, tenon::Value> arrays[] = {{"a", floats("3")}, {"b/0", narrow}};
  tenon::Npz::write(npz, arrays);
  const tenon::Npz archive(npz);
  ASSERT_EQ(archive.size(), 2u);
  EXPECT_EQ(archive.name(1), "b/0");
  EXPECT_THAT(archive.read(0).data<float>(), ElementsAre(3));
  EXPECT_EQ(archive.read(1, TN_BFLOAT16).compare(narrow, 0, 0).mismatches, 0);
  EXPECT_EQ(code_of([&] { archive.read(1); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { archive.read(2); }), TN_INVALID_ARGUMENT);
  tenon::Npz limited(npz);
  EXPECT_EQ(code_of([&] { limited.limit_memory(0); }), TN_INVALID_ARGUMENT);
  std::filesystem::remove(npy);
  std::filesystem::remove(npz);
  EXPECT_EQ(code_of([&] { tenon::Value::read_npy(npy); }), TN_NOT_FOUND);
  const tenon::Value item = floats("1");
  EXPECT_EQ(code_of([&] { tenon::Value::sequence(std::span(&item, 1)).write_npy(npy); }), TN_INVALID_ARGUMENT);
}

TEST(Nesting, OfValuesHasALimit) {
  std::vector<int64_t> one{1};
  tenon::Value list = tenon::Value::tensor<int64_t>({1}, one);
  for (int depth = 0; depth < 64; ++depth) list = tenon::Value::sequence(std::span<const tenon::Value>(&list, 1));
  EXPECT_EQ(code_of([&] { tenon::Value::sequence(std::span<const tenon::Value>(&list, 1)); }), TN_RESOURCE_LIMIT);
  EXPECT_EQ(code_of([&] { tenon::Value::optional(list); }), TN_RESOURCE_LIMIT);
}

}  // namespace
