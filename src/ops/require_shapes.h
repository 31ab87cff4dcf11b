#pragma once

#include "ops/op.h"
#include "ops/shape_pattern.h"

namespace tenon {

// What an ONNX op demands of its inputs' shapes where some of those are open: a node without outputs, whose rule
// binding runs and which computes nothing. The lists have an entry for each input of the ONNX node that is concerned.
struct RequireShapesParams {
  std::string op_type;                // the ONNX op
  std::vector<std::string> names;     // of its inputs
  std::vector<std::string> required;  // ops/shape_pattern.h
  std::vector<std::string> given;     // "[3, 4]": a shape that is known, and the node does not read the input
  void fields(FieldVisitor& v) {
    v.field("op_type", op_type);
    v.field("names", names);
    v.field("required", required);
    v.field("given", given);
  }
};

// Yes: all shapes are as required. Open: some are not known (null: not even the rank) and the others may be right.
// Error: one is not, which the message names.
Result<Fit> fit_required_shapes(const RequireShapesParams& params, std::span<const Shape* const> shapes);

}  // namespace tenon
