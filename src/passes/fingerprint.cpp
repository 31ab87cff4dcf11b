#include "passes/fingerprint.h"

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

class Fingerprint {
 public:
  Fingerprint(const std::shared_ptr<const void>& bytes, wire::ExternalData* external)
      : bytes_(bytes), external_(external) {}

  Result<Hash128> of(const wire::Model& model) {
    number(model.ir_version);
    number(static_cast<int64_t>(model.opsets.size()));
    for (const wire::OpsetImport& opset : model.opsets) {
      text(opset.domain);
      number(opset.version);
    }
    TN_RETURN_IF_ERROR(add(model.graph));
    messages(model.functions);
    number(static_cast<int64_t>(model.training_info.size()));
    for (wire::Bytes info : model.training_info) text(info);
    return hash_.value();
  }

 private:
  void number(int64_t value) { hash_.add({reinterpret_cast<const char*>(&value), sizeof value}); }
  void text(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    hash_.add(value);
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

  Status add(const wire::Graph& graph) {
    text(graph.name);
    messages(graph.nodes);
    messages(graph.inputs);
    messages(graph.outputs);
    messages(graph.value_infos);
    messages(graph.sparse_initializers);
    number(static_cast<int64_t>(graph.quantization_annotations.size()));
    for (wire::Bytes annotation : graph.quantization_annotations) text(annotation);
    number(static_cast<int64_t>(graph.initializers.size()));
    for (const wire::TensorProto& tensor : graph.initializers) TN_RETURN_IF_ERROR(add(tensor));
    return {};
  }

  Status add(const wire::TensorProto& tensor) {
    text(tensor.name);
    number(tensor.data_type);
    number(static_cast<int64_t>(tensor.dims.size()));
    for (int64_t d : tensor.dims) number(d);
    number(tensor.is_external);
    number(static_cast<int64_t>(tensor.external_data.size()));
    for (const wire::StringEntry& entry : tensor.external_data) {
      text(entry.key);
      text(entry.value);
    }
    if (!may_decide(tensor)) return {};
    if (!tensor.is_external) {
      message(tensor);
      return {};
    }
    auto elements = wire::decode_tensor(tensor, bytes_, external_);
    if (!elements.ok()) return std::move(elements).status().in("initializer '" + std::string(tensor.name) + "'");
    text({static_cast<const char*>(elements->data()), static_cast<size_t>(elements->bytes())});
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
