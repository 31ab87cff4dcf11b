#pragma once

#include "base/status.h"
#include "tensor/value.h"

namespace tenon {

// How deep sequences, optionals and maps may lie in each other: what recursion over them can take, and far more than
// any model needs.
inline constexpr int kMostTypeNesting = 64;

// Refuse what is nested deeper. Every way to make a type or a value out of others asks, so that nothing deeper exists.
Status check_nesting(const Type& type);
Status check_nesting(const Value& value);

}  // namespace tenon
