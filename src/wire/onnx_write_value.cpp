#include "wire/onnx_fields.h"
#include "wire/onnx_write.h"

// Writers of what carries values and types: tensors, attributes, value infos.
namespace tenon::wire {

void encode(const TensorProto& tensor, MessageWriter& out) {
  using namespace field::tensor;
  if (tensor.raw.data()) return out.add_encoded(tensor.raw);
  out.add_encoded(tensor.other);
  for (int64_t dim : tensor.dims) out.add_int(kDims, dim);
  if (tensor.data_type != 0) out.add_int(kDataType, tensor.data_type);
  out.add_optional_bytes(kName, tensor.name);
  if (tensor.raw_data) out.add_bytes(kRawData, *tensor.raw_data);
  add_messages(kExternalData, tensor.external_data, out);
  if (tensor.is_external) out.add_int(kDataLocation, kExternalLocation);
}

void encode(const SparseTensorProto& tensor, MessageWriter& out) {
  using namespace field::sparse_tensor;
  if (tensor.raw.data()) return out.add_encoded(tensor.raw);
  out.add_encoded(tensor.other);
  add_message(kValues, tensor.values, out);
  add_message(kIndices, tensor.indices, out);
  for (int64_t dim : tensor.dims) out.add_int(kDims, dim);
}

namespace {

void encode_value(const Attribute& attribute, MessageWriter& out) {
  using namespace field::attribute;
  const auto graphs = [&](uint32_t field) {
    for (const auto& graph : attribute.graphs) add_message(field, *graph, out);
  };
  switch (attribute.type) {
    case AttributeType::Undefined:
      break;
    case AttributeType::Float:
      out.add_float(kFloat, attribute.f);
      break;
    case AttributeType::Int:
      out.add_int(kInt, attribute.i);
      break;
    case AttributeType::String:
      out.add_bytes(kString, attribute.s);
      break;
    case AttributeType::Tensor:
      add_messages(kTensor, attribute.tensors, out);
      break;
    case AttributeType::Graph:
      graphs(kGraph);
      break;
    case AttributeType::Floats:
      for (float value : attribute.floats) out.add_float(kFloats, value);
      break;
    case AttributeType::Ints:
      for (int64_t value : attribute.ints) out.add_int(kInts, value);
      break;
    case AttributeType::Strings:
      for (Bytes value : attribute.strings) out.add_bytes(kStrings, value);
      break;
    case AttributeType::Tensors:
      add_messages(kTensors, attribute.tensors, out);
      break;
    case AttributeType::Graphs:
      graphs(kGraphs);
      break;
    case AttributeType::SparseTensor:
      add_messages(kSparseTensor, attribute.sparse_tensors, out);
      break;
    case AttributeType::SparseTensors:
      add_messages(kSparseTensors, attribute.sparse_tensors, out);
      break;
    case AttributeType::TypeProto:
      add_messages(kType, attribute.types, out);
      break;
    case AttributeType::TypeProtos:
      add_messages(kTypes, attribute.types, out);
      break;
  }
}

}  // namespace

void encode(const Attribute& attribute, MessageWriter& out) {
  using namespace field::attribute;
  if (attribute.raw.data()) return out.add_encoded(attribute.raw);
  out.add_encoded(attribute.other);
  out.add_optional_bytes(kName, attribute.name);
  if (attribute.ref_attr_name.empty()) encode_value(attribute, out);
  if (attribute.type != AttributeType::Undefined) out.add_int(kAttributeType, static_cast<int>(attribute.type));
  out.add_optional_bytes(kRefAttrName, attribute.ref_attr_name);
}

void encode(const ValueInfo& info, MessageWriter& out) {
  using namespace field::value_info;
  if (info.raw.data()) return out.add_encoded(info.raw);
  out.add_encoded(info.other);
  out.add_optional_bytes(kName, info.name);
  if (info.has_type || info.type.kind != TypeProto::Kind::None) add_message(kType, info.type, out);
  out.add_optional_bytes(kDoc, info.doc);
}

namespace {

MessageWriter encode_shape(const TypeProto& type) {
  using namespace field::shape;
  MessageWriter shape;
  shape.add_encoded(type.shape_other);
  for (const DimensionProto& dimension : *type.shape) {
    MessageWriter dim;
    dim.add_encoded(dimension.other);
    if (dimension.value) dim.add_int(kDimValue, *dimension.value);
    if (dimension.param) dim.add_bytes(kDimParam, *dimension.param);
    shape.add_message(kDim, dim);
  }
  return shape;
}

}  // namespace

void encode(const TypeProto& type, MessageWriter& out) {
  using namespace field::type;
  using Kind = TypeProto::Kind;
  if (type.raw.data()) return out.add_encoded(type.raw);
  out.add_encoded(type.other);
  MessageWriter body;
  body.add_encoded(type.kind_other);
  const auto element = [&](uint32_t field) {
    if (type.element) add_message(field, *type.element, body);
  };
  switch (type.kind) {
    case Kind::None:
    case Kind::Opaque:  // whole in `other`
      return;
    case Kind::Tensor:
    case Kind::Sparse:
      if (type.elem_type != 0) body.add_int(kElementType, type.elem_type);
      if (type.shape) body.add_message(kShape, encode_shape(type));
      return out.add_message(type.kind == Kind::Tensor ? kTensor : kSparseTensor, body);
    case Kind::Sequence:
      element(kElement);
      return out.add_message(kSequence, body);
    case Kind::Optional:
      element(kElement);
      return out.add_message(kOptional, body);
    case Kind::Map:
      if (type.key_type != 0) body.add_int(kKeyType, type.key_type);
      element(kMapValue);
      return out.add_message(kMap, body);
  }
}

}  // namespace tenon::wire
