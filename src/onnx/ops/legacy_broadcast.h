#pragma once

#include "onnx/import_node.h"

namespace tenon {

// Before version 7, binary ops broadcast only when told to, with B aligned to A at `axis`.
// The second operand shaped so that numpy broadcasting does the same.
ValueId legacy_broadcast_operand(ImportNode& node);

// A binary op of any version: two inputs, no attributes but the old broadcast ones.
template <OpId op>
void import_binary(ImportNode& n) {
  const ValueId b = n.version() < 7 ? legacy_broadcast_operand(n) : n.input(1);
  n.finish(n.emit(op, n.read_params(op), {n.input(0), b}));
}

}  // namespace tenon
