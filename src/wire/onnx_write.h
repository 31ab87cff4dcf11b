#pragma once

#include <string>

#include "wire/onnx_model.h"
#include "wire/proto_writer.h"

// ONNX messages to bytes. A message with `raw` is written as those bytes, one without from its fields and `other`;
// Model and Graph always from their fields. The result says the same as the input in the sense of protobuf (fields may
// come in another order, the entries of a repeated field do not), and is the same bytes every time.
namespace tenon::wire {

// Protobuf messages end at 2 GiB.
inline constexpr uint64_t kMaxMessageBytes = (uint64_t{1} << 31) - 1;

// The encoded model; refers to the model's large values instead of copying them. Its pieces() go to
// write_file_atomically. Fails when the model is larger than a protobuf can be.
Result<MessageWriter> encode_model(const Model& model);
Result<std::string> write_model(const Model& model);
// How large the encoded model is, or would be if a protobuf could be so large.
uint64_t encoded_bytes(const Model& model);

// The fields of one message.
void encode(const Graph& graph, MessageWriter& out);
void encode(const Function& function, MessageWriter& out);
void encode(const Node& node, MessageWriter& out);
void encode(const Attribute& attribute, MessageWriter& out);
void encode(const TensorProto& tensor, MessageWriter& out);
void encode(const SparseTensorProto& tensor, MessageWriter& out);
void encode(const ValueInfo& info, MessageWriter& out);
void encode(const TypeProto& type, MessageWriter& out);
void encode(const OpsetImport& opset, MessageWriter& out);
void encode(const StringEntry& entry, MessageWriter& out);

template <class Message>
void add_message(uint32_t field, const Message& message, MessageWriter& out) {
  MessageWriter inner;
  encode(message, inner);
  out.add_message(field, inner);
}
template <class Message>
void add_messages(uint32_t field, const std::vector<Message>& messages, MessageWriter& out) {
  for (const Message& message : messages) add_message(field, message, out);
}

}  // namespace tenon::wire
