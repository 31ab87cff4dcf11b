#include "wire/onnx_build.h"

#include "wire/onnx_fields.h"
#include "wire/onnx_write.h"

namespace tenon::wire {

namespace {

bool is_typed_data(Bytes encoded_field) {
  using namespace field::tensor;
  const uint32_t number = static_cast<unsigned char>(encoded_field.front()) >> 3;
  return number == kFloatData || number == kInt32Data || number == kStringData || number == kInt64Data ||
         number == kDoubleData || number == kUInt64Data;
}

}  // namespace

void remove_elements(TensorProto& tensor) {
  tensor.raw = {};
  tensor.raw_data.reset();
  tensor.is_external = false;
  tensor.external_data.clear();
  std::erase_if(tensor.other, is_typed_data);
}

Bytes MessageBuilder::keep(std::string_view text) { return kept_.emplace_back(text); }

Node MessageBuilder::make_node(std::string_view op_type, std::string_view domain, std::span<const Bytes> inputs,
                               std::span<const Bytes> outputs, std::string_view name) {
  Node node;
  node.op_type = keep(op_type);
  if (!domain.empty()) node.domain = keep(domain);
  if (!name.empty()) node.name = keep(name);
  for (Bytes input : inputs) node.inputs.push_back(keep(input));
  for (Bytes output : outputs) node.outputs.push_back(keep(output));
  return node;
}

TensorProto MessageBuilder::make_tensor_raw(std::string_view name, DType dtype, std::span<const int64_t> dims,
                                            Bytes data) {
  TensorProto tensor;
  tensor.name = keep(name);
  tensor.data_type = static_cast<int64_t>(dtype);
  tensor.dims.assign(dims.begin(), dims.end());
  tensor.raw_data = data;
  return tensor;
}

TensorProto MessageBuilder::make_tensor_external(std::string_view name, DType dtype, std::span<const int64_t> dims,
                                                 std::string_view location, int64_t offset, int64_t length) {
  TensorProto tensor = make_tensor_raw(name, dtype, dims, {});
  tensor.raw_data.reset();
  tensor.is_external = true;
  tensor.external_data = {make_entry("location", location), make_entry("offset", std::to_string(offset)),
                          make_entry("length", std::to_string(length))};
  return tensor;
}

TensorProto MessageBuilder::make_tensor_strings(std::string_view name, std::span<const int64_t> dims,
                                                std::span<const std::string> strings) {
  TensorProto tensor = make_tensor_raw(name, DType::String, dims, {});
  tensor.raw_data.reset();
  MessageWriter data;
  for (const std::string& string : strings) data.add_bytes(field::tensor::kStringData, string);
  tensor.other.push_back(kept_.emplace_back(data.to_string()));
  return tensor;
}

ValueInfo MessageBuilder::make_value_info(std::string_view name, TypeProto type) {
  ValueInfo info;
  info.name = keep(name);
  info.type = std::move(type);
  info.has_type = true;
  return info;
}

StringEntry MessageBuilder::make_entry(std::string_view key, std::string_view value) {
  return {keep(key), keep(value)};
}

Bytes MessageBuilder::make_node_metadata(std::string_view key, std::string_view value) {
  MessageWriter out;
  add_message(field::node::kMetadata, make_entry(key, value), out);
  return kept_.emplace_back(out.to_string());
}

OpsetImport MessageBuilder::make_opset(std::string_view domain, int64_t version) { return {keep(domain), version}; }

Attribute MessageBuilder::make_attribute(std::string_view name, AttributeType type) {
  Attribute attribute;
  attribute.name = keep(name);
  attribute.type = type;
  return attribute;
}

Attribute MessageBuilder::make_float(std::string_view name, float value) {
  Attribute attribute = make_attribute(name, AttributeType::Float);
  attribute.f = value;
  return attribute;
}

Attribute MessageBuilder::make_int(std::string_view name, int64_t value) {
  Attribute attribute = make_attribute(name, AttributeType::Int);
  attribute.i = value;
  return attribute;
}

Attribute MessageBuilder::make_string(std::string_view name, std::string_view value) {
  Attribute attribute = make_attribute(name, AttributeType::String);
  attribute.s = keep(value);
  return attribute;
}

Attribute MessageBuilder::make_tensor(std::string_view name, TensorProto value) {
  Attribute attribute = make_attribute(name, AttributeType::Tensor);
  attribute.tensors.push_back(std::move(value));
  return attribute;
}

Attribute MessageBuilder::make_graph(std::string_view name, std::shared_ptr<Graph> value) {
  Attribute attribute = make_attribute(name, AttributeType::Graph);
  attribute.graphs.push_back(std::move(value));
  return attribute;
}

Attribute MessageBuilder::make_type(std::string_view name, TypeProto value) {
  Attribute attribute = make_attribute(name, AttributeType::TypeProto);
  attribute.types.push_back(std::move(value));
  return attribute;
}

Attribute MessageBuilder::make_floats(std::string_view name, std::span<const float> values) {
  Attribute attribute = make_attribute(name, AttributeType::Floats);
  attribute.floats.assign(values.begin(), values.end());
  return attribute;
}

Attribute MessageBuilder::make_ints(std::string_view name, std::span<const int64_t> values) {
  Attribute attribute = make_attribute(name, AttributeType::Ints);
  attribute.ints.assign(values.begin(), values.end());
  return attribute;
}

Attribute MessageBuilder::make_strings(std::string_view name, std::span<const std::string> values) {
  Attribute attribute = make_attribute(name, AttributeType::Strings);
  for (const std::string& value : values) attribute.strings.push_back(keep(value));
  return attribute;
}

}  // namespace tenon::wire
