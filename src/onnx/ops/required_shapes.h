#pragma once

#include "onnx/import_node.h"

// Shapes that an ONNX op demands of its inputs and that the canonical ops it becomes do not: they would broadcast, read
// a part, or refuse in their own words.
namespace tenon {

struct RequiredShape {
  ValueId value;  // kNone: absent, and nothing is required
  std::string name;
  std::string shape;  // ops/shape_pattern.h
};

// Names in these shapes have one meaning. What is known is checked here; what is open, by binding.
void require_shapes(ImportNode& n, const std::vector<RequiredShape>& required);

}  // namespace tenon
