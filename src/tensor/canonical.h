#pragma once

#include "tensor/value.h"

// Elements as kernels and hashes expect them: booleans are the bytes 0 and 1, and the bits behind the last packed
// element are zero. Bytes that others wrote need not be so: a mask of 0 and 255 may come as booleans.
namespace tenon {

bool is_canonical(const TensorView& view);
// Makes every boolean that is not 0 a 1, and clears unused bits.
void make_canonical(const TensorView& view);

// Makes every NaN the positive quiet one without a payload. Which one an operation gives differs between processors.
void make_nans_canonical(const TensorView& view);

// The tensor, or a copy of it when some element has to change.
Result<Tensor> canonical(Tensor tensor, const std::shared_ptr<MemoryBudget>& budget);
// The same for every tensor that a value holds.
Result<Value> canonical(Value value, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace tenon
