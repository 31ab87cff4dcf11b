#include "wire/onnx_write.h"

#include "wire/onnx_fields.h"
#include "wire/proto_reader.h"

namespace tenon::wire {

namespace {

void add_strings(uint32_t field, const std::vector<Bytes>& strings, MessageWriter& out) {
  for (Bytes string : strings) out.add_bytes(field, string);
}

// Of an encoded field.
uint32_t number_of(Bytes piece) {
  FieldReader reader(piece);
  Field field;
  return reader.next(field) ? field.number : 0;
}

void encode_model_fields(const Model& model, MessageWriter& out) {
  using namespace field::model;
  // First, because it may hold zeros that are meant to be overridden: the last value of a field counts.
  out.add_encoded(model.other);
  if (model.ir_version != 0) out.add_int(kIrVersion, model.ir_version);
  out.add_optional_bytes(kProducerName, model.producer_name);
  out.add_optional_bytes(kProducerVersion, model.producer_version);
  out.add_optional_bytes(kDomain, model.domain);
  if (model.model_version) out.add_int(kModelVersion, *model.model_version);
  out.add_optional_bytes(kDoc, model.doc);
  if (model.has_graph) add_message(kGraph, model.graph, out);
  add_messages(kOpset, model.opsets, out);
  add_messages(kMetadata, model.metadata, out);
  add_strings(kTrainingInfo, model.training_info, out);
  add_messages(kFunction, model.functions, out);
}

}  // namespace

void encode(const Graph& graph, MessageWriter& out) {
  using namespace field::graph;
  out.add_encoded(graph.other);
  add_messages(kNode, graph.nodes, out);
  out.add_optional_bytes(kName, graph.name);
  add_messages(kInitializer, graph.initializers, out);
  out.add_optional_bytes(kDoc, graph.doc);
  add_messages(kInput, graph.inputs, out);
  add_messages(kOutput, graph.outputs, out);
  add_messages(kValueInfo, graph.value_infos, out);
  add_strings(kQuantization, graph.quantization_annotations, out);
  add_messages(kSparseInitializer, graph.sparse_initializers, out);
  add_messages(kMetadata, graph.metadata, out);
}

void encode(const Function& function, MessageWriter& out) {
  using namespace field::function;
  if (function.raw.data()) return out.add_encoded(function.raw);
  out.add_encoded(function.other);
  out.add_optional_bytes(kName, function.name);
  add_strings(kInput, function.inputs, out);
  add_strings(kOutput, function.outputs, out);
  add_strings(kAttributeName, function.attribute_names, out);
  add_messages(kNode, function.nodes, out);
  out.add_optional_bytes(kDoc, function.doc);
  add_messages(kOpset, function.opsets, out);
  out.add_optional_bytes(kDomain, function.domain);
  add_messages(kAttributeDefault, function.attribute_defaults, out);
  add_messages(kValueInfo, function.value_infos, out);
  out.add_optional_bytes(kOverload, function.overload);
}

void encode(const Node& node, MessageWriter& out) {
  using namespace field::node;
  if (node.raw.data()) return out.add_encoded(node.raw);
  add_strings(kInput, node.inputs, out);
  add_strings(kOutput, node.outputs, out);
  out.add_optional_bytes(kName, node.name);
  out.add_optional_bytes(kOpType, node.op_type);
  add_messages(kAttribute, node.attributes, out);
  for (Bytes piece : node.other)
    if (number_of(piece) == kDoc) out.add_encoded(piece);
  out.add_optional_bytes(kDomain, node.domain);
  out.add_optional_bytes(kOverload, node.overload);
  for (Bytes piece : node.other)
    if (number_of(piece) != kDoc) out.add_encoded(piece);
}

void encode(const OpsetImport& opset, MessageWriter& out) {
  if (opset.raw.data()) return out.add_encoded(opset.raw);
  out.add_optional_bytes(field::opset::kDomain, opset.domain);
  out.add_int(field::opset::kVersion, opset.version);
}

void encode(const StringEntry& entry, MessageWriter& out) {
  if (entry.raw.data()) return out.add_encoded(entry.raw);
  out.add_optional_bytes(field::entry::kKey, entry.key);
  out.add_optional_bytes(field::entry::kValue, entry.value);
}

Result<MessageWriter> encode_model(const Model& model) {
  MessageWriter out;
  encode_model_fields(model, out);
  if (out.size() > kMaxMessageBytes)
    return error(Code::ResourceLimit,
                 "the model takes {} bytes, but an ONNX file is limited to 2 GiB; save its weights as external data",
                 out.size());
  return out;
}

uint64_t encoded_bytes(const Model& model) {
  MessageWriter out;
  encode_model_fields(model, out);
  return out.size();
}

Result<std::string> write_model(const Model& model) {
  TN_ASSIGN_OR_RETURN(const MessageWriter out, encode_model(model));
  return out.to_string();
}

}  // namespace tenon::wire
