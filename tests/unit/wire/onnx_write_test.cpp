#include "wire/onnx_write.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "unit/wire/sample_model.h"
#include "wire/onnx_fields.h"

namespace tenon::wire {
namespace {

Model parsed(const std::string& bytes) {
  auto model = parse_model(bytes);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return model.ok() ? std::move(model).value() : Model{};
}

TEST(WriteModel, IsStable) {
  const std::string bytes = sample_model();
  EXPECT_EQ(write_model(parsed(bytes)).value(), bytes);
}

TEST(WriteModel, FieldsSayTheSameAsTheBytesTheyWereReadFrom) {
  const std::string bytes = sample_model();
  Model model = parsed(bytes);
  forget_raw(model);
  EXPECT_EQ(write_model(model).value(), bytes);
}

TEST(WriteModel, KeepsWhatIsNotDecoded) {
  const std::string unknown = bytes_field(1000, "unknown");
  const std::string dim = bytes_field(1, int_field(1, 3) + bytes_field(3, "N") + unknown);
  const std::string type =
      bytes_field(field::type::kTensor, int_field(1, 1) + bytes_field(2, dim + unknown) + unknown) +
      bytes_field(6, "IMAGE") + unknown;
  const std::string info = bytes_field(1, "x") + bytes_field(2, type) + bytes_field(4, bytes_field(1, "k")) + unknown;
  const std::string tensor = bytes_field(8, "t") + int_field(2, 1) + bytes_field(12, "doc") +
                             bytes_field(4, little_endian<float>({1.0f})) + bytes_field(3, int_field(1, 0)) + unknown;
  const std::string attribute = bytes_field(1, "a") + int_field(3, 5) + fixed32_field(2, 1.0f) + int_field(20, 2) +
                                bytes_field(13, "doc") + unknown;
  const std::string node = bytes_field(4, "Op") + bytes_field(6, "doc") + bytes_field(5, attribute) +
                           bytes_field(9, bytes_field(1, "k")) + bytes_field(10, bytes_field(1, "device")) + unknown;
  const std::string graph = bytes_field(1, node) + bytes_field(5, tensor) + bytes_field(11, info) +
                            bytes_field(14, bytes_field(1, "annotated")) + unknown;
  const std::string function =
      bytes_field(1, "f") + bytes_field(7, node) + bytes_field(14, bytes_field(1, "k")) + unknown;
  const std::string bytes = int_field(1, 8) + int_field(5, 0) + bytes_field(7, graph) + bytes_field(8, "") +
                            bytes_field(20, bytes_field(3, "")) + bytes_field(25, function) +
                            bytes_field(26, bytes_field(1, "gpu")) + unknown;
  Model model = parsed(bytes);
  const std::string once = write_model(model).value();
  EXPECT_EQ(once.size(), bytes.size());
  // The same through the decoded fields: everything is there, in another order, so it has the same size. An opset
  // version and an attribute's other value stay what they are.
  model.opsets.clear();
  forget_raw(model);
  EXPECT_EQ(write_model(model).value().size(), bytes.size() - bytes_field(8, "").size());
  for (const char* text : {"unknown", "IMAGE", "device", "gpu", "annotated"})
    EXPECT_NE(write_model(model).value().find(text), std::string::npos) << text;
}

TEST(WriteModel, ShowsEdits) {
  const std::string bytes = sample_model();
  Model model = parsed(bytes);
  model.graph.nodes.erase(model.graph.nodes.begin());
  model.graph.nodes[0].op_type = "Sigmoid";
  model.graph.nodes[0].raw = {};
  model.ir_version = 11;
  model.metadata.clear();
  const std::string edited = write_model(model).value();
  const Model again = parsed(edited);
  ASSERT_EQ(again.graph.nodes.size(), 1u);
  EXPECT_EQ(again.graph.nodes[0].op_type, "Sigmoid");
  EXPECT_EQ(again.graph.nodes[0].inputs.at(0), "x");
  EXPECT_EQ(again.ir_version, 11);
  EXPECT_TRUE(again.metadata.empty());
  EXPECT_EQ(again.graph.initializers.size(), 2u);
}

TEST(WriteModel, AnEditOverridesAnExplicitZero) {
  const std::string bytes = int_field(field::model::kModelVersion, 0);
  Model model = parsed(bytes);
  EXPECT_EQ(write_model(model).value(), bytes);
  model.model_version = 4;
  EXPECT_EQ(parsed(write_model(model).value()).model_version, 4);
}

TEST(EncodeModel, RefersToLargeValues) {
  const std::string data(1'000'000, 'd');
  MessageBuilder builder;
  Model model;
  model.has_graph = true;
  const int64_t dims[] = {1'000'000};
  model.graph.initializers.push_back(builder.make_tensor_raw("w", DType::UInt8, dims, data));
  const auto encoded = encode_model(model);
  ASSERT_TRUE(encoded.ok());
  bool found = false;
  std::string joined;
  for (Bytes piece : encoded->pieces()) {
    found |= piece.data() == data.data() && piece.size() == data.size();
    joined += piece;
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(joined, write_model(model).value());
  EXPECT_EQ(encoded->size(), joined.size());
  EXPECT_EQ(parsed(joined).graph.initializers.at(0).raw_data, data);
}

TEST(EncodeModel, RefusesMoreThanTwoGigabytes) {
  // Reserved but never touched: the size alone decides.
  const size_t size = size_t{1} << 30;
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Bytes data(static_cast<const char*>(memory), size);
  MessageBuilder builder;
  Model model;
  model.has_graph = true;
  const int64_t dims[] = {int64_t{1} << 30};
  model.graph.initializers.push_back(builder.make_tensor_raw("a", DType::UInt8, dims, data));
  EXPECT_TRUE(encode_model(model).ok());
  model.graph.initializers.push_back(builder.make_tensor_raw("b", DType::UInt8, dims, data));
  const auto encoded = encode_model(model);
  ASSERT_FALSE(encoded.ok());
  EXPECT_EQ(encoded.status().code(), Code::ResourceLimit);
  EXPECT_NE(encoded.status().message().find("external data"), std::string::npos);
  ::munmap(memory, size);
}

TEST(MessageBuilder, OwnsItsStrings) {
  MessageBuilder builder;
  Node node;
  {
    const std::string op = "A name that is too long to be stored inside of a string";
    const Bytes inputs[] = {op};
    node = builder.make_node(op, "", inputs, {});
  }
  const MessageBuilder moved = std::move(builder);
  EXPECT_EQ(node.op_type, "A name that is too long to be stored inside of a string");
  EXPECT_EQ(node.inputs.at(0), node.op_type);
  EXPECT_EQ(node.domain.data(), nullptr);
}

}  // namespace
}  // namespace tenon::wire
