#pragma once

#include "ops/op.h"
#include "tensor/type.h"

namespace tenon {

// Optional: the type of an empty one, which is a tensor or a sequence of tensors.
struct OptionalParams {
  DType elem_type = DType::Undefined;
  bool is_sequence = false;
  void fields(FieldVisitor& v) {
    v.field("elem_type", elem_type);
    v.field("is_sequence", is_sequence);
  }
  Type element() const { return is_sequence ? Type::sequence(Type::tensor(elem_type)) : Type::tensor(elem_type); }
};

}  // namespace tenon
