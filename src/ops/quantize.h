#pragma once

#include "ops/op.h"

namespace tenon {

struct QuantizeLinearParams {
  int64_t axis = 1;
  int64_t block_size = 0;                 // 0: one scale per tensor or per position along axis
  DType output_dtype = DType::Undefined;  // Undefined: the zero point's type
  DType precision = DType::Undefined;     // of the division; Undefined: the scale's type
  bool saturate = true;
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("block_size", block_size);
    v.field("output_dtype", output_dtype);
    v.field("precision", precision);
    v.field("saturate", saturate);
  }
};

struct DequantizeLinearParams {
  int64_t axis = 1;
  int64_t block_size = 0;
  DType output_dtype = DType::Undefined;  // Undefined: the scale's type
  void fields(FieldVisitor& v) {
    v.field("axis", axis);
    v.field("block_size", block_size);
    v.field("output_dtype", output_dtype);
  }
};

}  // namespace tenon
