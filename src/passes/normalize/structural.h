#pragma once

#include "ir/constant.h"

namespace tenon {

// Shapes, indices and conditions, as opposed to weights, which are the user's to replace however small they are.
inline bool is_structural(const Constant& constant) {
  const bool is_integer =
      constant.dtype == DType::Int64 || constant.dtype == DType::Int32 || constant.dtype == DType::Bool;
  return is_integer && constant.may_be_asked();
}

}  // namespace tenon
