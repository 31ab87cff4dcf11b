#pragma once

#include "onnx/import_node.h"

namespace tenon {

// The elements of a constant of any number type as integers; the import fails when it is something else.
std::vector<int64_t> constant_integers(ImportNode& node, ValueId value, const char* what);

// A scalar of this (float) type; the import fails when the type is not known.
ValueId number_constant(ImportNode& node, DType dtype, double value);

}  // namespace tenon
