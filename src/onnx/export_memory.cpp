#include "onnx/export_memory.h"

namespace tenon {

wire::TensorProto ExportMemory::make_tensor(std::string_view name, const Tensor& tensor) {
  if (tensor.dtype() == DType::String)
    return messages.make_tensor_strings(name, tensor.dims(), tensor.as<std::string>());
  const Tensor& kept = tensors.emplace_back(tensor);
  return messages.make_tensor_raw(name, kept.dtype(), kept.dims(),
                                  {static_cast<const char*>(kept.data()), static_cast<size_t>(kept.bytes())});
}

wire::TypeProto ExportMemory::make_type(const Type& type) {
  using Kind = wire::TypeProto::Kind;
  wire::TypeProto message;
  if (type.element) message.element = std::make_shared<wire::TypeProto>(make_type(*type.element));
  switch (type.kind) {
    case Type::Kind::Unknown:
      break;
    case Type::Kind::Tensor:
      message.kind = type.sparse ? Kind::Sparse : Kind::Tensor;
      message.elem_type = static_cast<int64_t>(type.dtype);
      if (!type.shape) break;
      message.shape.emplace();
      for (const Dim& dim : *type.shape) {
        wire::DimensionProto& extent = message.shape->emplace_back();
        const auto name = dim.as_symbol();
        if (dim.is_constant())
          extent.value = dim.value();
        else if (name && !name->starts_with('?'))
          extent.param = messages.keep(*name);
      }
      break;
    case Type::Kind::Sequence:
      message.kind = Kind::Sequence;
      break;
    case Type::Kind::Optional:
      message.kind = Kind::Optional;
      break;
    case Type::Kind::Map:
      message.kind = Kind::Map;
      message.key_type = static_cast<int64_t>(type.dtype);
      break;
  }
  return message;
}

}  // namespace tenon
