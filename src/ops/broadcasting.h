#pragma once

#include "ops/infer.h"

// What elementwise ops share: numpy broadcasting of all inputs, and passing small integer contents on.
namespace tenon {

// The shape that all inputs broadcast to; nothing while a rank is unknown.
Result<std::optional<Shape>> broadcast_inputs(const InferContext& c);

// One element of output 0 from one element of every input; Dim::invalid() when it cannot be told.
using FoldElements = Dim (*)(std::span<const Dim>);

// Passes the elements of output 0 on, when those of all inputs are known and the output is a scalar or a vector.
void propagate_elements(InferContext& c, FoldElements fold);

// All inputs have one element type, the output has it too, shapes broadcast. fold may be null.
Status infer_elementwise(InferContext& c, TypeSet allowed, FoldElements fold);

// Whether an integer (or bool) type can hold the value.
bool holds(DType dtype, int64_t value);

}  // namespace tenon
