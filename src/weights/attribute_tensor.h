#pragma once

#include "tensor/tensor.h"
#include "wire/onnx_model.h"

namespace tenon {

// A number, a string or a list of them as a tensor of no or one dimension; undefined for other attributes.
Tensor attribute_tensor(const wire::Attribute& attribute);

// Of one sparse tensor made dense.
inline constexpr int64_t kMostDenseBytes = int64_t{1} << 31;

}  // namespace tenon
