#include "wire/onnx_fields.h"
#include "wire/onnx_parse.h"

namespace tenon::wire {

namespace {

TypeProto::Kind kind_of_field(uint32_t number) {
  using namespace field::type;
  switch (number) {
    case kTensor:
      return TypeProto::Kind::Tensor;
    case kSparseTensor:
      return TypeProto::Kind::Sparse;
    case kSequence:
      return TypeProto::Kind::Sequence;
    case kMap:
      return TypeProto::Kind::Map;
    case kOptional:
      return TypeProto::Kind::Optional;
    case kOpaque:
      return TypeProto::Kind::Opaque;
    default:
      return TypeProto::Kind::None;
  }
}

}  // namespace

Bytes denotation(const DimensionProto& dim) {
  Bytes text;
  for (Bytes piece : dim.other) {
    FieldReader reader(piece);
    for (Field field; reader.next(field);)
      if (field.number == field::shape::kDimDenotation) text = field.bytes();
  }
  return text;
}

ValueInfo Parser::value_info(Bytes bytes) {
  using namespace field::value_info;
  ValueInfo info;
  info.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case kName:
        info.name = parse_name(field);
        break;
      case kDoc:
        info.doc = field.bytes();
        break;
      case kType:
        if (info.has_type) throw_given_twice("type");
        info.type = at("type", -1, [&] { return type(field.bytes()); });
        info.has_type = true;
        break;
      default:
        keep(info.other, field);
    }
  }
  return info;
}

TypeProto Parser::type(Bytes bytes) {
  Deeper deeper(*this, type_depth_, "types");
  TypeProto type;
  type.raw = bytes;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    const TypeProto::Kind kind = kind_of_field(field.number);
    if (kind != TypeProto::Kind::None) {
      if (type.kind != TypeProto::Kind::None) throw_given_twice("value");
      type.kind = kind;
    }
    if (kind == TypeProto::Kind::None || kind == TypeProto::Kind::Opaque)
      keep(type.other, field);
    else
      type_body(field.bytes(), type);
  }
  return type;
}

void Parser::type_body(Bytes bytes, TypeProto& type) {
  using namespace field::type;
  using Kind = TypeProto::Kind;
  const bool is_tensor = type.kind == Kind::Tensor || type.kind == Kind::Sparse;
  const bool is_map = type.kind == Kind::Map;
  const uint32_t element_number = is_map ? uint32_t{kMapValue} : uint32_t{kElement};
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    if (is_tensor && field.number == kElementType) {
      type.elem_type = field.int32();
    } else if (is_tensor && field.number == kShape) {
      if (type.shape) throw_given_twice("shape");
      shape(field.bytes(), type);
    } else if (is_map && field.number == kKeyType) {
      type.key_type = field.int32();
    } else if (!is_tensor && field.number == element_number) {
      if (type.element) throw_given_twice("elem_type");
      type.element = at("elem_type", -1, [&] { return std::make_shared<TypeProto>(this->type(field.bytes())); });
    } else {
      keep(type.kind_other, field);
    }
  }
}

void Parser::shape(Bytes bytes, TypeProto& type) {
  using namespace field::shape;
  type.shape.emplace();
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    if (field.number == kDim)
      append(*type.shape, "dim", [&] { return dimension(field.bytes()); });
    else
      keep(type.shape_other, field);
  }
}

DimensionProto Parser::dimension(Bytes bytes) {
  using namespace field::shape;
  DimensionProto dimension;
  FieldReader reader(bytes);
  for (Field field; reader.next(field);) {
    // Value and name are alternatives: the later one counts.
    if (field.number == kDimValue) {
      dimension.value = field.int64();
      dimension.param.reset();
    } else if (field.number == kDimParam) {
      dimension.param = parse_name(field);
      dimension.value.reset();
    } else {
      keep(dimension.other, field);
    }
  }
  return dimension;
}

}  // namespace tenon::wire
