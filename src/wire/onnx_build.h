#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>

#include "tensor/dtype.h"
#include "wire/onnx_model.h"

namespace tenon::wire {

// Takes the elements out of a tensor message, wherever they are. The rest stays.
void remove_elements(TensorProto& tensor);

// Makes new messages. Owns every string it is given, so the messages live as long as the builder (also after it is
// moved); element bytes of tensors are the exception, they stay with the caller.
class MessageBuilder {
 public:
  Bytes keep(std::string_view text);

  Node make_node(std::string_view op_type, std::string_view domain, std::span<const Bytes> inputs,
                 std::span<const Bytes> outputs, std::string_view name = {});
  // `data` is the elements as raw_data has them: little-endian, sub-byte types packed.
  TensorProto make_tensor_raw(std::string_view name, DType dtype, std::span<const int64_t> dims, Bytes data);
  TensorProto make_tensor_external(std::string_view name, DType dtype, std::span<const int64_t> dims,
                                   std::string_view location, int64_t offset, int64_t length);
  TensorProto make_tensor_strings(std::string_view name, std::span<const int64_t> dims,
                                  std::span<const std::string> strings);
  ValueInfo make_value_info(std::string_view name, TypeProto type);
  StringEntry make_entry(std::string_view key, std::string_view value);
  // Metadata of a node, for its `other` fields.
  Bytes make_node_metadata(std::string_view key, std::string_view value);
  OpsetImport make_opset(std::string_view domain, int64_t version);

  Attribute make_float(std::string_view name, float value);
  Attribute make_int(std::string_view name, int64_t value);
  Attribute make_string(std::string_view name, std::string_view value);
  Attribute make_tensor(std::string_view name, TensorProto value);
  Attribute make_graph(std::string_view name, std::shared_ptr<Graph> value);
  Attribute make_type(std::string_view name, TypeProto value);
  Attribute make_floats(std::string_view name, std::span<const float> values);
  Attribute make_ints(std::string_view name, std::span<const int64_t> values);
  Attribute make_strings(std::string_view name, std::span<const std::string> values);

 private:
  Attribute make_attribute(std::string_view name, AttributeType type);
  // A deque never moves what it holds.
  std::deque<std::string> kept_;
};

}  // namespace tenon::wire
