#include "wire/onnx_fields.h"
#include "wire/onnx_parse.h"

namespace tenon::wire {

namespace {

// The type a value field belongs to; Undefined for other fields.
AttributeType type_of_field(uint32_t number) {
  using namespace field::attribute;
  switch (number) {
    case kFloat:
      return AttributeType::Float;
    case kInt:
      return AttributeType::Int;
    case kString:
      return AttributeType::String;
    case kTensor:
      return AttributeType::Tensor;
    case kGraph:
      return AttributeType::Graph;
    case kFloats:
      return AttributeType::Floats;
    case kInts:
      return AttributeType::Ints;
    case kStrings:
      return AttributeType::Strings;
    case kTensors:
      return AttributeType::Tensors;
    case kGraphs:
      return AttributeType::Graphs;
    case kSparseTensor:
      return AttributeType::SparseTensor;
    case kSparseTensors:
      return AttributeType::SparseTensors;
    case kType:
      return AttributeType::TypeProto;
    case kTypes:
      return AttributeType::TypeProtos;
    default:
      return AttributeType::Undefined;
  }
}

void require_first(bool first, const char* name) {
  if (!first) throw_given_twice(name);
}

}  // namespace

// Reads the fields that come before the value can be understood: writers put the type last.
AttributeType Parser::attribute_type(Bytes bytes, Attribute& attribute) {
  using namespace field::attribute;
  AttributeType inferred = AttributeType::Undefined;
  int32_t declared = 0;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    if (field.number == kName) attribute.name = parse_name(field);
    if (field.number == kRefAttrName) attribute.ref_attr_name = parse_name(field);
    if (field.number == kAttributeType) declared = field.int32();
    if (const AttributeType type = type_of_field(field.number); type != AttributeType::Undefined) inferred = type;
  }
  if (declared < 0 || declared > static_cast<int>(AttributeType::TypeProtos))
    throw ParseError(Code::InvalidModel,
                     fmt::format("attribute '{}' has the unknown type {}", attribute.name, declared));
  return declared != 0 ? static_cast<AttributeType>(declared) : inferred;
}

bool Parser::attribute_value(const Field& field, Attribute& attribute) {
  using namespace field::attribute;
  switch (field.number) {
    case kFloat:
      attribute.f = field.float32();
      return true;
    case kInt:
      attribute.i = field.int64();
      return true;
    case kString:
      attribute.s = field.bytes();
      return true;
    case kFloats:
      append_floats(field, attribute.floats);
      return true;
    case kInts:
      for_each_varint(field, [&](uint64_t v) { attribute.ints.push_back(static_cast<int64_t>(v)); });
      return true;
    case kStrings:
      attribute.strings.push_back(field.bytes());
      return true;
    case kTensor:
      require_first(attribute.tensors.empty(), "t");
      [[fallthrough]];
    case kTensors:
      append(attribute.tensors, "tensor", [&] { return tensor(field.bytes()); });
      return true;
    case kGraph:
      require_first(attribute.graphs.empty(), "g");
      [[fallthrough]];
    case kGraphs:
      append(attribute.graphs, "graph", [&] { return std::make_shared<Graph>(graph(field.bytes())); });
      return true;
    case kSparseTensor:
      require_first(attribute.sparse_tensors.empty(), "sparse_tensor");
      [[fallthrough]];
    case kSparseTensors:
      append(attribute.sparse_tensors, "sparse_tensor", [&] { return sparse_tensor(field.bytes()); });
      return true;
    case kType:
      require_first(attribute.types.empty(), "tp");
      [[fallthrough]];
    case kTypes:
      append(attribute.types, "type", [&] { return type(field.bytes()); });
      return true;
    default:
      return false;
  }
}

Attribute Parser::attribute(Bytes bytes) {
  using namespace field::attribute;
  Attribute attribute;
  attribute.raw = bytes;
  attribute.type = attribute_type(bytes, attribute);
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    if (field.number == kName || field.number == kRefAttrName || field.number == kAttributeType) continue;
    const AttributeType type = type_of_field(field.number);
    // A reference to an attribute of the function has no value of its own.
    const bool is_value = type != AttributeType::Undefined && type == attribute.type && attribute.ref_attr_name.empty();
    if (!is_value || !attribute_value(field, attribute)) keep(attribute.other, field);
  }
  return attribute;
}

}  // namespace tenon::wire
