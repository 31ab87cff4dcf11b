#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "wire/onnx_build.h"
#include "wire/onnx_write.h"

namespace tenon::wire {

// Bytes of a protobuf message, put together by hand.
inline std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}
inline std::string int_field(uint32_t number, uint64_t value) { return varint(number << 3) + varint(value); }
inline std::string bytes_field(uint32_t number, const std::string& value) {
  return varint(number << 3 | 2) + varint(value.size()) + value;
}
inline std::string fixed32_field(uint32_t number, float value) {
  return varint(number << 3 | 5) + std::string(reinterpret_cast<const char*>(&value), 4);
}
inline std::string fixed64_field(uint32_t number, double value) {
  return varint(number << 3 | 1) + std::string(reinterpret_cast<const char*>(&value), 8);
}
template <class T>
std::string little_endian(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(T));
}

inline TypeProto tensor_type(DType dtype, std::initializer_list<int64_t> dims) {
  TypeProto type;
  type.kind = TypeProto::Kind::Tensor;
  type.elem_type = static_cast<int64_t>(dtype);
  type.shape.emplace();
  for (int64_t dim : dims) {
    DimensionProto proto;
    proto.value = dim;
    type.shape->push_back(proto);
  }
  return type;
}

// A model with one of everything, as bytes.
inline std::string sample_model() {
  MessageBuilder builder;
  static const std::string kData = little_endian<float>({1.5f, -2.0f});
  Model model;
  model.ir_version = 10;
  model.producer_name = "sample";
  model.opsets = {builder.make_opset("", 21), builder.make_opset("my.domain", 1)};
  model.metadata = {builder.make_entry("key", "value")};
  model.has_graph = true;
  Graph& graph = model.graph;
  graph.name = "main";
  graph.doc = "documentation";
  const int64_t dims[] = {2};
  graph.initializers.push_back(builder.make_tensor_raw("w", DType::Float32, dims, kData));
  graph.initializers.push_back(builder.make_tensor_external("e", DType::Float32, dims, "weights.bin", 64, 8));
  SparseTensorProto sparse;
  sparse.values = builder.make_tensor_raw("s", DType::Float32, dims, kData);
  static const std::string kIndices = little_endian<int64_t>({1, 5});
  sparse.indices = builder.make_tensor_raw("", DType::Int64, dims, kIndices);
  sparse.dims = {3, 2};
  graph.sparse_initializers.push_back(sparse);
  graph.inputs.push_back(builder.make_value_info("x", tensor_type(DType::Float32, {2})));
  TypeProto sequence;
  sequence.kind = TypeProto::Kind::Sequence;
  sequence.element = std::make_shared<TypeProto>(tensor_type(DType::Int64, {}));
  graph.outputs.push_back(builder.make_value_info("y", sequence));
  graph.metadata = {builder.make_entry("graph key", "graph value")};

  const Bytes inputs[] = {"x", "", "w"}, outputs[] = {"y"};
  Node node = builder.make_node("Op", "my.domain", inputs, outputs, "node one");
  const std::vector<float> floats = {1.0f, 2.5f};
  const std::vector<int64_t> ints = {-1, 1'000'000'000'000};
  const std::vector<std::string> strings = {"a", "", "\xFF\xFE"};
  auto body = std::make_shared<Graph>();
  body->name = "body";
  body->nodes.push_back(builder.make_node("Identity", "", std::span(inputs, 1), outputs));
  node.attributes = {builder.make_float("f", 0.5f),    builder.make_int("i", -7),
                     builder.make_string("s", "text"), builder.make_floats("fs", floats),
                     builder.make_ints("is", ints),    builder.make_strings("ss", strings),
                     builder.make_graph("body", body), builder.make_tensor("t", graph.initializers[0])};
  graph.nodes.push_back(node);
  graph.nodes.push_back(builder.make_node("Relu", "", std::span(inputs, 1), outputs));

  Function function;
  function.name = "Op";
  function.domain = "my.domain";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.attribute_names = {"alpha"};
  function.attribute_defaults = {builder.make_int("beta", 3)};
  Node call = builder.make_node("Identity", "", std::span(inputs, 1), outputs);
  Attribute reference;
  reference.name = "value";
  reference.ref_attr_name = "alpha";
  reference.type = AttributeType::Int;
  call.attributes = {reference};
  function.nodes = {call};
  function.opsets = {builder.make_opset("", 21)};
  model.functions = {function};
  return write_model(model).value();
}

// Drops the bytes every message was read from, so that writing goes through the decoded fields.
inline void forget_raw(Graph& graph);
inline void forget_raw(StringEntry& entry) { entry.raw = {}; }
inline void forget_raw(OpsetImport& opset) { opset.raw = {}; }
inline void forget_raw(TypeProto& type) {
  type.raw = {};
  if (type.element) forget_raw(*type.element);
}
template <class T>
void forget_raw(std::vector<T>& messages) {
  for (T& message : messages) forget_raw(message);
}
inline void forget_raw(TensorProto& tensor) {
  tensor.raw = {};
  forget_raw(tensor.external_data);
}
inline void forget_raw(SparseTensorProto& tensor) {
  tensor.raw = {};
  forget_raw(tensor.values);
  forget_raw(tensor.indices);
}
inline void forget_raw(ValueInfo& info) {
  info.raw = {};
  forget_raw(info.type);
}
inline void forget_raw(Attribute& attribute) {
  attribute.raw = {};
  forget_raw(attribute.tensors);
  forget_raw(attribute.sparse_tensors);
  forget_raw(attribute.types);
  for (auto& graph : attribute.graphs) forget_raw(*graph);
}
inline void forget_raw(Node& node) {
  node.raw = {};
  forget_raw(node.attributes);
}
inline void forget_raw(Graph& graph) {
  forget_raw(graph.nodes);
  forget_raw(graph.initializers);
  forget_raw(graph.sparse_initializers);
  forget_raw(graph.inputs);
  forget_raw(graph.outputs);
  forget_raw(graph.value_infos);
  forget_raw(graph.metadata);
}
inline void forget_raw(Function& function) {
  function.raw = {};
  forget_raw(function.attribute_defaults);
  forget_raw(function.nodes);
  forget_raw(function.opsets);
  forget_raw(function.value_infos);
}
inline void forget_raw(Model& model) {
  forget_raw(model.graph);
  forget_raw(model.functions);
  forget_raw(model.opsets);
  forget_raw(model.metadata);
}

}  // namespace tenon::wire
