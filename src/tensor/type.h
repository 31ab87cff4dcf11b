#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tensor/dim.h"
#include "tensor/dtype.h"

namespace tenon {

// What is known of a value before it exists. Unknown parts stay open: dtype Undefined, shape absent (unknown rank).
struct Type {
  enum class Kind : uint8_t { Unknown, Tensor, Sequence, Optional, Map };

  Kind kind = Kind::Unknown;
  DType dtype = DType::Undefined;       // tensor: element type; map: key type
  std::optional<Shape> shape;           // tensor only
  std::shared_ptr<const Type> element;  // sequence, optional: what is inside; map: the value type
  bool sparse = false;                  // a tensor that the model declares sparse; its values are dense here

  static Type tensor(DType dtype, std::optional<Shape> shape = std::nullopt);
  static Type sequence(Type element);
  static Type optional(Type element);
  static Type map(DType key, Type value);

  bool is_tensor() const { return kind == Kind::Tensor; }
  std::string to_string() const;
  friend bool operator==(const Type& a, const Type& b);
};

// The same without any shape, also inside sequences and optionals.
Type without_shape(const Type& type);
// What both describe, taken together; or nothing when they contradict (kind, dtype, rank or integer dims).
std::optional<Type> merge(const Type& a, const Type& b);
// What holds for either: dims that differ become fresh() symbols, ranks that differ become unknown.
Type join(const Type& a, const Type& b);

}  // namespace tenon
