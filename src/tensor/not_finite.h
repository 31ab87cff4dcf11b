#pragma once

#include "tensor/tensor.h"

namespace tenon {

// Whether there is a NaN or an infinity among the elements; never for types that have neither.
bool has_not_finite(const TensorView& view);

}  // namespace tenon
