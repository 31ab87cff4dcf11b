#include "passes/fingerprint.h"

#include <algorithm>

#include "wire/onnx_write.h"

namespace tenon {

namespace {

// Rules ask small constants of any type. Shapes, axes and indices that an op needs are read whatever their size.
bool may_decide(const wire::TensorProto& tensor) {
  const auto dtype = dtype_from_onnx(tensor.data_type);
  if (!dtype) return true;
  if (*dtype == DType::Int64 || *dtype == DType::Int32 || *dtype == DType::Bool) return true;
  const Dim elements = element_count(Shape(tensor.dims.begin(), tensor.dims.end()));
  if (!elements.is_constant()) return true;
  const auto bytes = storage_bytes(*dtype, elements.value());
  return *dtype == DType::String || !bytes || *bytes <= kMostAskedBytes;
}

bool has_parts(const wire::Attribute& a) {
  return !a.graphs.empty() || !a.tensors.empty() || !a.sparse_tensors.empty();
}

class Fingerprint {
 public:
  Fingerprint(const std::shared_ptr<const void>& bytes, wire::ExternalData* external)
      : bytes_(bytes), external_(external) {}

  Result<Hash128> of(const wire::Model& model) {
    number(model.ir_version);
    messages(model.opsets);
    TN_RETURN_IF_ERROR(add(model.graph));
    TN_RETURN_IF_ERROR(add_all(model.functions));
    texts(model.training_info);
    return hash_.value();
  }

 private:
  void number(int64_t value) { hash_.add({reinterpret_cast<const char*>(&value), sizeof value}); }
  void text(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    hash_.add(value);
  }
  void texts(const std::vector<wire::Bytes>& all) {
    number(static_cast<int64_t>(all.size()));
    for (wire::Bytes t : all) text(t);
  }
  template <class Message>
  void message(const Message& m) {
    if (m.raw.data()) return text(m.raw);
    wire::MessageWriter writer;
    wire::encode(m, writer);
    number(static_cast<int64_t>(writer.size()));
    for (wire::Bytes piece : writer.pieces()) hash_.add(piece);
  }
  template <class Message>
  void messages(const std::vector<Message>& all) {
    number(static_cast<int64_t>(all.size()));
    for (const Message& m : all) message(m);
  }
  template <class Message>
  Status add_all(const std::vector<Message>& all) {
    number(static_cast<int64_t>(all.size()));
    for (const Message& m : all) TN_RETURN_IF_ERROR(add(m));
    return {};
  }

  Status add(const wire::Graph& graph) {
    text(graph.name);
    TN_RETURN_IF_ERROR(add_all(graph.nodes));
    messages(graph.inputs);
    messages(graph.outputs);
    messages(graph.value_infos);
    TN_RETURN_IF_ERROR(add_all(graph.sparse_initializers));
    texts(graph.quantization_annotations);
    number(static_cast<int64_t>(graph.initializers.size()));
    for (const wire::TensorProto& tensor : graph.initializers)
      TN_RETURN_IF_ERROR(add_initializer(tensor).in("initializer '" + std::string(tensor.name) + "'"));
    return {};
  }

  Status add(const wire::Function& function) {
    for (wire::Bytes name : {function.name, function.domain, function.overload}) text(name);
    for (const auto* names : {&function.inputs, &function.outputs, &function.attribute_names}) texts(*names);
    messages(function.opsets);
    messages(function.value_infos);
    TN_RETURN_IF_ERROR(add_all(function.attribute_defaults));
    return add_all(function.nodes);
  }

  Status add(const wire::Node& node) {
    const bool is_whole = std::ranges::none_of(node.attributes, has_parts);
    number(is_whole);
    if (is_whole) {
      message(node);
      return {};
    }
    for (wire::Bytes name : {node.name, node.op_type, node.domain, node.overload}) text(name);
    texts(node.inputs);
    texts(node.outputs);
    texts(node.other);
    return add_all(node.attributes).in("node '" + std::string(node.name) + "'");
  }

  Status add(const wire::Attribute& attribute) {
    const bool is_whole = !has_parts(attribute);
    number(is_whole);
    if (is_whole) {
      message(attribute);
      return {};
    }
    text(attribute.name);
    text(attribute.ref_attr_name);
    number(static_cast<int64_t>(attribute.type));
    texts(attribute.other);
    number(static_cast<int64_t>(attribute.graphs.size()));
    for (const auto& graph : attribute.graphs) TN_RETURN_IF_ERROR(add(*graph));
    TN_RETURN_IF_ERROR(add_all(attribute.sparse_tensors));
    number(static_cast<int64_t>(attribute.tensors.size()));
    for (const wire::TensorProto& tensor : attribute.tensors) TN_RETURN_IF_ERROR(add_elements(tensor));
    return {};
  }

  Status add(const wire::SparseTensorProto& sparse) {
    for (int64_t d : sparse.dims) number(d);
    texts(sparse.other);
    TN_RETURN_IF_ERROR(add_elements(sparse.values));
    return add_elements(sparse.indices);
  }

  // Of a weight, where and in which form its elements are stored.
  Status add_initializer(const wire::TensorProto& tensor) {
    const bool is_asked = may_decide(tensor);
    number(is_asked);
    if (is_asked) return add_elements(tensor);
    text(tensor.name);
    number(tensor.data_type);
    number(static_cast<int64_t>(tensor.dims.size()));
    for (int64_t d : tensor.dims) number(d);
    number(tensor.raw_data ? static_cast<int64_t>(tensor.raw_data->size()) : -1);
    for (wire::Bytes piece : tensor.other) number(static_cast<int64_t>(piece.size()));
    number(tensor.is_external);
    messages(tensor.external_data);
    if (!tensor.is_external || !external_) return {};
    TN_ASSIGN_OR_RETURN(const wire::ExternalRegion region, wire::external_region(tensor));
    return external_->read(region.location, region.offset, region.length).status();
  }

  Status add_elements(const wire::TensorProto& tensor) {
    message(tensor);
    if (!tensor.is_external) return {};
    TN_ASSIGN_OR_RETURN(const Tensor elements, wire::decode_tensor(tensor, bytes_, external_));
    text({static_cast<const char*>(elements.data()), static_cast<size_t>(elements.bytes())});
    return {};
  }

  const std::shared_ptr<const void>& bytes_;
  wire::ExternalData* external_;
  StreamingHash hash_;
};

}  // namespace

Result<Hash128> fingerprint(const wire::Model& model, const std::shared_ptr<const void>& bytes,
                            wire::ExternalData* external) {
  return Fingerprint(bytes, external).of(model);
}

}  // namespace tenon
