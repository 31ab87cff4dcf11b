#include "tensor/type.h"

namespace tenon {

Type Type::tensor(DType dtype, std::optional<Shape> shape) {
  Type t;
  t.kind = Kind::Tensor;
  t.dtype = dtype;
  t.shape = std::move(shape);
  return t;
}

Type Type::sequence(Type element) {
  Type t;
  t.kind = Kind::Sequence;
  t.element = std::make_shared<const Type>(std::move(element));
  return t;
}

Type Type::optional(Type element) {
  Type t;
  t.kind = Kind::Optional;
  t.element = std::make_shared<const Type>(std::move(element));
  return t;
}

Type Type::map(DType key, Type value) {
  Type t;
  t.kind = Kind::Map;
  t.dtype = key;
  t.element = std::make_shared<const Type>(std::move(value));
  return t;
}

std::string Type::to_string() const {
  switch (kind) {
    case Kind::Unknown:
      return "unknown";
    case Kind::Tensor:
      return std::string(dtype_name(dtype)) + (shape ? shape_text(*shape) : "[...]");
    case Kind::Sequence:
      return "seq(" + (element ? element->to_string() : "unknown") + ")";
    case Kind::Optional:
      return "optional(" + (element ? element->to_string() : "unknown") + ")";
    case Kind::Map:
      return "map(" + std::string(dtype_name(dtype)) + ", " + (element ? element->to_string() : "unknown") + ")";
  }
  return "unknown";
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.shape != b.shape || a.sparse != b.sparse) return false;
  if (!a.element || !b.element) return !a.element && !b.element;
  return *a.element == *b.element;
}

namespace {

std::optional<Shape> merge_shapes(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return std::nullopt;
  Shape merged = a;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].is_constant() && b[i].is_constant() && !(a[i] == b[i])) return std::nullopt;
    if (b[i].is_constant()) merged[i] = b[i];
  }
  return merged;
}

}  // namespace

std::optional<Type> merge(const Type& a, const Type& b) {
  if (a.kind == Type::Kind::Unknown) return b;
  if (b.kind == Type::Kind::Unknown) return a;
  if (a.kind != b.kind) return std::nullopt;
  Type merged = a;
  if (a.dtype == DType::Undefined) merged.dtype = b.dtype;
  if (a.dtype != DType::Undefined && b.dtype != DType::Undefined && a.dtype != b.dtype) return std::nullopt;
  if (a.shape && b.shape) {
    merged.shape = merge_shapes(*a.shape, *b.shape);
    if (!merged.shape) return std::nullopt;
  } else if (b.shape) {
    merged.shape = b.shape;
  }
  if (a.element && b.element) {
    auto element = merge(*a.element, *b.element);
    if (!element) return std::nullopt;
    merged.element = std::make_shared<const Type>(std::move(*element));
  } else if (b.element) {
    merged.element = b.element;
  }
  return merged;
}

Type without_shape(const Type& type) {
  Type bare = type;
  bare.shape.reset();
  if (type.element) bare.element = std::make_shared<const Type>(without_shape(*type.element));
  return bare;
}

Type join(const Type& a, const Type& b) {
  if (a.kind != b.kind) return Type{};
  Type joined = a;
  if (a.dtype != b.dtype) joined.dtype = DType::Undefined;
  if (!a.shape || !b.shape || *a.shape != *b.shape) joined.shape.reset();
  if (a.element && b.element)
    joined.element = std::make_shared<const Type>(join(*a.element, *b.element));
  else
    joined.element = nullptr;
  return joined;
}

}  // namespace tenon
