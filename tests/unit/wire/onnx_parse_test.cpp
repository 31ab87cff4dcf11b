#include <gtest/gtest.h>

#include <set>

#include "unit/wire/sample_model.h"
#include "wire/onnx_fields.h"
#include "wire/proto_reader.h"

namespace tenon::wire {
namespace {

Code code_of(const std::string& bytes, const ParseLimits& limits = {}) {
  return parse_model(bytes, limits).status().code();
}
std::string in_graph(const std::string& graph) { return bytes_field(field::model::kGraph, graph); }
std::string in_node(const std::string& node) { return in_graph(bytes_field(field::graph::kNode, node)); }
std::string in_attribute(const std::string& attribute) {
  return in_node(bytes_field(field::node::kAttribute, attribute));
}
Attribute attribute_of(const std::string& encoded) {
  // Views outlive the call: every test string is kept.
  static std::deque<std::string> kept;
  const auto model = parse_model(kept.emplace_back(in_attribute(encoded)));
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return model.ok() ? model->graph.nodes.at(0).attributes.at(0) : Attribute{};
}

TEST(ParseModel, ReadsEveryPart) {
  const std::string bytes = sample_model();
  const auto parsed = parse_model(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  const Model& model = *parsed;
  EXPECT_EQ(model.ir_version, 10);
  EXPECT_EQ(model.producer_name, "sample");
  EXPECT_EQ(model.producer_version.data(), nullptr);
  ASSERT_EQ(model.opsets.size(), 2u);
  EXPECT_EQ(model.opsets[0].domain, "");
  EXPECT_EQ(model.opsets[0].version, 21);
  EXPECT_EQ(model.opsets[1].domain, "my.domain");
  EXPECT_EQ(model.metadata.at(0).key, "key");
  EXPECT_EQ(model.metadata.at(0).value, "value");
  ASSERT_TRUE(model.has_graph);
  const Graph& graph = model.graph;
  EXPECT_EQ(graph.name, "main");
  EXPECT_EQ(graph.doc, "documentation");
  ASSERT_EQ(graph.initializers.size(), 2u);
  EXPECT_EQ(graph.initializers[0].name, "w");
  EXPECT_EQ(graph.initializers[0].data_type, 1);
  EXPECT_EQ(graph.initializers[0].dims, std::vector<int64_t>{2});
  EXPECT_EQ(graph.initializers[0].raw_data, little_endian<float>({1.5f, -2.0f}));
  EXPECT_TRUE(graph.initializers[1].is_external);
  EXPECT_EQ(graph.initializers[1].external_data.at(0).value, "weights.bin");
  EXPECT_EQ(graph.sparse_initializers.at(0).dims, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(graph.sparse_initializers.at(0).values.name, "s");
  EXPECT_EQ(graph.inputs.at(0).type.kind, TypeProto::Kind::Tensor);
  EXPECT_EQ(graph.inputs.at(0).type.elem_type, 1);
  EXPECT_EQ(graph.inputs.at(0).type.shape->at(0).value, 2);
  EXPECT_EQ(graph.outputs.at(0).type.kind, TypeProto::Kind::Sequence);
  EXPECT_EQ(graph.outputs.at(0).type.element->elem_type, 7);
  EXPECT_EQ(model.functions.at(0).attribute_names.at(0), "alpha");
  EXPECT_EQ(model.functions.at(0).nodes.at(0).attributes.at(0).ref_attr_name, "alpha");
}

TEST(ParseModel, ReadsNodesAndAttributes) {
  const std::string bytes = sample_model();
  const Model model = parse_model(bytes).value();
  ASSERT_EQ(model.graph.nodes.size(), 2u);
  const Node& node = model.graph.nodes[0];
  EXPECT_EQ(node.name, "node one");
  EXPECT_EQ(node.op_type, "Op");
  EXPECT_EQ(node.domain, "my.domain");
  EXPECT_EQ(node.inputs, (std::vector<Bytes>{"x", "", "w"}));
  EXPECT_EQ(node.outputs, (std::vector<Bytes>{"y"}));
  ASSERT_EQ(node.attributes.size(), 8u);
  EXPECT_EQ(node.attributes[0].f, 0.5f);
  EXPECT_EQ(node.attributes[1].i, -7);
  EXPECT_EQ(node.attributes[2].s, "text");
  EXPECT_EQ(node.attributes[3].floats, (std::vector<float>{1.0f, 2.5f}));
  EXPECT_EQ(node.attributes[4].ints, (std::vector<int64_t>{-1, 1'000'000'000'000}));
  EXPECT_EQ(node.attributes[5].strings, (std::vector<Bytes>{"a", "", "\xFF\xFE"}));
  EXPECT_EQ(node.attributes[6].graphs.at(0)->nodes.at(0).op_type, "Identity");
  EXPECT_EQ(node.attributes[7].tensors.at(0).name, "w");
}

TEST(ParseModel, CopiesNothing) {
  const std::string bytes = sample_model();
  const Model model = parse_model(bytes).value();
  const auto inside = [&](Bytes view) {
    return view.data() >= bytes.data() && view.data() + view.size() <= bytes.data() + bytes.size();
  };
  EXPECT_TRUE(inside(*model.graph.initializers[0].raw_data));
  EXPECT_TRUE(inside(model.graph.nodes[0].raw));
  EXPECT_TRUE(inside(model.graph.name));
}

TEST(ParseModel, EveryCutInsideAFieldIsAnError) {
  const std::string bytes = sample_model();
  std::set<size_t> boundaries = {0};
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) boundaries.insert(static_cast<size_t>(reader.position() - bytes.data()));
  for (size_t length = 0; length <= bytes.size(); ++length) {
    // A copy of its own, so that a sanitizer sees reads past the end.
    const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
    const auto model = parse_model(Bytes(cut.data(), cut.size()));
    EXPECT_EQ(model.ok(), boundaries.count(length) == 1) << length;
    EXPECT_EQ(model.status().code(), model.ok() ? Code::Ok : Code::InvalidModel) << length;
  }
}

TEST(ParseModel, AnyChangedByteIsReadOrRefused) {
  const std::string bytes = sample_model();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      const auto model = parse_model(changed);
      if (!model.ok()) continue;
      const auto written = write_model(*model);
      ASSERT_TRUE(written.ok());
      const auto again = parse_model(*written);
      ASSERT_TRUE(again.ok()) << i << " " << value << ": " << again.status().to_string();
      EXPECT_EQ(write_model(*again).value(), *written);
    }
  }
}

TEST(ParseModel, RefusesWrongWireTypes) {
  const std::string strings_as_numbers[] = {
      int_field(field::model::kGraph, 1),
      int_field(field::model::kProducerName, 1),
      int_field(field::model::kOpset, 1),
      in_graph(int_field(field::graph::kNode, 1)),
      in_graph(int_field(field::graph::kInitializer, 1)),
      in_node(int_field(field::node::kInput, 1)),
      in_attribute(int_field(field::attribute::kString, 1) + int_field(field::attribute::kAttributeType, 3)),
      in_graph(bytes_field(field::graph::kInitializer, int_field(field::tensor::kRawData, 1))),
  };
  for (const std::string& bytes : strings_as_numbers) EXPECT_EQ(code_of(bytes), Code::InvalidModel);
  EXPECT_EQ(code_of(bytes_field(field::model::kIrVersion, "x")), Code::InvalidModel);
  EXPECT_EQ(code_of(fixed32_field(field::model::kIrVersion, 1)), Code::InvalidModel);
  EXPECT_EQ(code_of(in_attribute(int_field(field::attribute::kFloat, 1))), Code::InvalidModel);
  EXPECT_EQ(code_of(in_attribute(fixed64_field(field::attribute::kFloats, 1))), Code::InvalidModel);
  EXPECT_EQ(code_of(in_graph(bytes_field(field::graph::kInitializer, fixed32_field(field::tensor::kDims, 1)))),
            Code::InvalidModel);
  // Groups are of no use in ONNX.
  EXPECT_EQ(code_of(std::string("\x0B\x0C")), Code::InvalidModel);
}

TEST(ParseModel, RefusesBadNumbersAndLengths) {
  const std::string overlong(10, '\xFF');
  EXPECT_EQ(code_of(varint(1 << 3) + overlong + "\x01"), Code::InvalidModel);
  EXPECT_EQ(code_of(overlong + "\x01" + std::string(20, '\0')), Code::InvalidModel);
  EXPECT_EQ(code_of(varint(0) + "\x01"), Code::InvalidModel);                           // field number 0
  EXPECT_EQ(code_of(varint(uint64_t{1} << 32 | 1 << 3) + "\x01"), Code::InvalidModel);  // more than 29 bits
  for (uint64_t length : {uint64_t{5}, uint64_t{1} << 31, (uint64_t{1} << 32) + 1, uint64_t{1} << 63, ~uint64_t{0}})
    EXPECT_EQ(code_of(varint(2 << 3 | 2) + varint(length) + "abc"), Code::InvalidModel) << length;
  EXPECT_EQ(code_of(in_attribute(bytes_field(field::attribute::kFloats, "12345") +
                                 int_field(field::attribute::kAttributeType, 6))),
            Code::InvalidModel);
}

TEST(ParseModel, NamesThePlaceOfAnError) {
  const std::string good = bytes_field(field::graph::kNode, "");
  const std::string bad = bytes_field(field::graph::kNode, bytes_field(field::node::kAttribute, "\x08"));
  const auto model = parse_model(in_graph(good + bad));
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().where(), "graph.node[1].attribute[0]");
}

TEST(ParseModel, LimitsNesting) {
  const auto nested = [](int levels) {
    std::string graph;
    for (int i = 1; i < levels; ++i)
      graph = bytes_field(field::graph::kNode,
                          bytes_field(field::node::kAttribute, bytes_field(field::attribute::kGraph, graph)));
    return in_graph(graph);
  };
  ParseLimits limits;
  limits.max_nesting = 10;
  EXPECT_EQ(code_of(nested(10), limits), Code::Ok);
  EXPECT_EQ(code_of(nested(11), limits), Code::ResourceLimit);
  EXPECT_EQ(code_of(nested(2000)), Code::ResourceLimit);
  limits.max_nesting = 1'000'000'000;
  EXPECT_EQ(code_of(nested(3'000), limits), Code::ResourceLimit);

  std::string type;
  for (int i = 0; i < 2000; ++i) type = bytes_field(field::type::kSequence, bytes_field(1, type));
  const std::string info = bytes_field(field::value_info::kType, type);
  EXPECT_EQ(code_of(in_graph(bytes_field(field::graph::kInput, info))), Code::ResourceLimit);
}

TEST(ParseModel, TellsDeepPlacesInShort) {
  std::string graph = bytes_field(field::graph::kNode, "\x0A");
  for (int i = 0; i < 9; ++i)
    graph = bytes_field(field::graph::kNode,
                        bytes_field(field::node::kAttribute, bytes_field(field::attribute::kGraph, graph)));
  const auto model = parse_model(in_graph(graph));
  EXPECT_EQ(model.status().where(),
            "graph.node[0].attribute[0].graph[0].node[0].attribute[0]...attribute[0].graph[0].node[0]");
}

TEST(ParseModel, NamesAreTextWithoutZeroBytes) {
  const auto message = [](std::string_view name) {
    const auto model = parse_model(in_node(bytes_field(field::node::kName, std::string(name))));
    return model.ok() ? "" : model.status().to_string();
  };
  EXPECT_EQ(message("layer.0/Conv_17"), "");
  EXPECT_EQ(message("выход é 漢字 😀"), "");
  EXPECT_EQ(message(std::string_view("a\0b", 3)), "graph.node[0]: the name 'a\\x00b' contains a zero byte");
  EXPECT_EQ(message(std::string_view("12345678901234\0", 15)),
            "graph.node[0]: the name '12345678901234\\x00' contains a zero byte");
  EXPECT_EQ(message("long enough \xFF"), "graph.node[0]: the name 'long enough \\xff' is not valid UTF-8");
  EXPECT_EQ(message("\xC0\x80"), "graph.node[0]: the name '\\xc0\\x80' is not valid UTF-8");
  EXPECT_EQ(message("\xED\xA0\x80"), "graph.node[0]: the name '\\xed\\xa0\\x80' is not valid UTF-8");
}

TEST(ParseModel, EveryKindOfNameIsChecked) {
  const std::string bad = "\xFF";
  const auto in_info = [](const std::string& info) { return in_graph(bytes_field(field::graph::kInput, info)); };
  const std::string dim = bytes_field(field::shape::kDim, bytes_field(field::shape::kDimParam, bad));
  const std::string shaped = bytes_field(field::type::kTensor, bytes_field(field::type::kShape, dim));
  for (const std::string& bytes : {
           bytes_field(field::model::kProducerName, bad),
           bytes_field(field::model::kOpset, bytes_field(field::opset::kDomain, bad)),
           bytes_field(field::model::kMetadata, bytes_field(field::entry::kKey, bad)),
           bytes_field(field::model::kFunction, bytes_field(field::function::kName, bad)),
           bytes_field(field::model::kFunction, bytes_field(field::function::kOutput, bad)),
           in_graph(bytes_field(field::graph::kName, bad)),
           in_graph(bytes_field(field::graph::kInitializer, bytes_field(field::tensor::kName, bad))),
           in_info(bytes_field(field::value_info::kName, bad)),
           in_info(bytes_field(field::value_info::kType, shaped)),
           in_node(bytes_field(field::node::kInput, bad)),
           in_node(bytes_field(field::node::kOutput, bad)),
           in_node(bytes_field(field::node::kOpType, bad)),
           in_attribute(bytes_field(field::attribute::kName, bad)),
       })
    EXPECT_EQ(code_of(bytes), Code::InvalidModel) << testing::PrintToString(bytes);
  // What a string attribute or the documentation holds is the model's business.
  EXPECT_EQ(code_of(in_attribute(bytes_field(field::attribute::kString, bad))), Code::Ok);
  EXPECT_EQ(code_of(bytes_field(field::model::kDoc, bad)), Code::Ok);
}

TEST(ParseModel, LimitsNodesAndMessages) {
  std::string graph;
  for (int i = 0; i < 5; ++i) graph += bytes_field(field::graph::kNode, "");
  ParseLimits limits;
  limits.max_nodes = 5;
  EXPECT_EQ(code_of(in_graph(graph), limits), Code::Ok);
  limits.max_nodes = 4;
  EXPECT_EQ(code_of(in_graph(graph), limits), Code::ResourceLimit);
  limits = {};
  limits.max_messages = 5;  // the graph is one, too
  EXPECT_EQ(code_of(in_graph(graph), limits), Code::ResourceLimit);
}

TEST(ParseModel, TheLastValueOfASingularFieldCounts) {
  const std::string bytes = int_field(1, 3) + int_field(1, 8) + bytes_field(2, "a") + bytes_field(2, "b");
  const Model model = parse_model(bytes).value();
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(model.producer_name, "b");
  EXPECT_EQ(code_of(in_graph("") + in_graph("")), Code::InvalidModel);
}

TEST(ParseModel, ReadsPackedAndUnpackedNumbers) {
  const std::string unpacked = int_field(8, 1) + int_field(8, static_cast<uint64_t>(-2));
  const std::string packed = bytes_field(8, varint(1) + varint(static_cast<uint64_t>(-2)));
  const std::vector<int64_t> ints = {1, -2};
  EXPECT_EQ(attribute_of(unpacked).ints, ints);
  EXPECT_EQ(attribute_of(packed).ints, ints);
  const std::vector<float> floats = {1.5f, 2.5f, 3.5f};
  EXPECT_EQ(attribute_of(fixed32_field(7, 1.5f) + bytes_field(7, little_endian<float>({2.5f, 3.5f}))).floats, floats);
}

TEST(ParseModel, InfersTheTypeOldFilesLeaveOut) {
  EXPECT_EQ(attribute_of(int_field(3, 5)).type, AttributeType::Int);
  EXPECT_EQ(attribute_of(bytes_field(4, "x")).type, AttributeType::String);
  EXPECT_EQ(attribute_of(fixed32_field(7, 1)).type, AttributeType::Floats);
  EXPECT_EQ(attribute_of("").type, AttributeType::Undefined);
  EXPECT_EQ(code_of(in_attribute(int_field(20, 99))), Code::InvalidModel);
}

TEST(ParseModel, AnEmptyFileIsAModelWithoutGraph) {
  const auto model = parse_model("");
  ASSERT_TRUE(model.ok());
  EXPECT_FALSE(model->has_graph);
}

TEST(ParseTensor, ReadsATensorFile) {
  const std::string bytes = int_field(1, 2) + int_field(2, 7) + bytes_field(8, "t") + bytes_field(7, "\x01\x02");
  const auto tensor = parse_tensor(bytes);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->name, "t");
  EXPECT_EQ(tensor->data_type, 7);
  EXPECT_EQ(tensor->dims, std::vector<int64_t>{2});
  EXPECT_EQ(parse_tensor("\x0A").status().code(), Code::InvalidModel);
}

}  // namespace
}  // namespace tenon::wire
