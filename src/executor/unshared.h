#pragma once

#include "tensor/value.h"

namespace tenon {

// The value as one that its receiver may write to and keep: tensors whose memory somebody else holds as well, or that
// nobody keeps alive, are copied. The others stay where they are, so whoever calls lets go of its own copies first, and
// holds on to everything that must not change.
Result<Value> unshared(Value value, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace tenon
