#pragma once

#include "ops/op.h"

namespace tenon {

// Operands are complex numbers whose last axis is (real, imaginary).
struct ComplexMulParams {
  bool conjugate = false;  // of the second operand
  void fields(FieldVisitor& v) { v.field("conjugate", conjugate); }
};

}  // namespace tenon
