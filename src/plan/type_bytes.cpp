#include "plan/type_bytes.h"

#include "tensor/nesting.h"

namespace tenon {

namespace {

constexpr uint8_t kSparse = 1, kHasShape = 2, kHasElement = 4;
constexpr uint8_t kInteger = 0, kText = 1;

}  // namespace

void write_type(const Type& type, StringTableWriter& strings, ByteWriter& out) {
  out.put(static_cast<uint8_t>(type.kind));
  out.put(static_cast<uint8_t>((type.sparse ? kSparse : 0) | (type.shape ? kHasShape : 0) |
                               (type.element ? kHasElement : 0)));
  out.put(strings.id(dtype_name(type.dtype)));
  if (type.shape) {
    out.put_count(type.shape->size());
    for (const Dim& dim : *type.shape) {
      out.put(dim.is_constant() ? kInteger : kText);
      if (dim.is_constant())
        out.put(dim.value());
      else
        out.put(strings.id(dim.to_string()));
    }
  }
  if (type.element) write_type(*type.element, strings, out);
}

Result<DType> TypeReader::read_dtype(ByteReader& in, bool may_be_undefined) {
  TN_ASSIGN_OR_RETURN(const std::string_view name, strings_.at(in.get<uint32_t>()));
  if (const auto dtype = dtype_from_name(name)) return *dtype;
  if (may_be_undefined && name == dtype_name(DType::Undefined)) return DType::Undefined;
  return error(Code::Incompatible, "unknown element type '{}'; {}", name, kMadeByAnotherVersion);
}

Result<Dim> TypeReader::read_dim(ByteReader& in) {
  const auto form = in.get<uint8_t>();
  if (form == kInteger) return Dim(in.get<int64_t>());
  if (form != kText) return invalid_model("a dimension has the unknown form {}", form);
  const auto id = in.get<uint32_t>();
  TN_ASSIGN_OR_RETURN(const std::string_view text, strings_.at(id));
  if (!dims_[id]) {
    TN_ASSIGN_OR_RETURN(dims_[id], Dim::parse(text));
  }
  return *dims_[id];
}

Result<Type> TypeReader::read(ByteReader& in, int nesting) {
  if (nesting > kMostTypeNesting)
    return error(Code::ResourceLimit, "a type is nested more than {} levels deep", kMostTypeNesting);
  Type type;
  const auto kind = in.get<uint8_t>(), flags = in.get<uint8_t>();
  if (kind > static_cast<uint8_t>(Type::Kind::Map) || flags > (kSparse | kHasShape | kHasElement))
    return error(Code::Incompatible, "unknown kind of type {} with flags {}; {}", kind, flags, kMadeByAnotherVersion);
  type.kind = static_cast<Type::Kind>(kind);
  const bool holds_others = kind >= static_cast<uint8_t>(Type::Kind::Sequence);
  if (holds_others != ((flags & kHasElement) != 0))
    return invalid_model("a type of kind {} {} an element type", kind, holds_others ? "lacks" : "has");
  type.sparse = flags & kSparse;
  TN_ASSIGN_OR_RETURN(type.dtype, read_dtype(in, true));
  if (flags & kHasShape) {
    // The shorter form of a dim takes five bytes.
    type.shape.emplace(in.get_count(5));
    for (Dim& dim : *type.shape) {
      TN_ASSIGN_OR_RETURN(dim, read_dim(in));
    }
  }
  if (flags & kHasElement) {
    TN_ASSIGN_OR_RETURN(Type element, read(in, nesting + 1));
    type.element = std::make_shared<const Type>(std::move(element));
  }
  return type;
}

}  // namespace tenon
