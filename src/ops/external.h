#pragma once

#include "ops/op.h"

namespace tenon {

// External(blob, inputs...): a part of a model that another provider computes, from a blob that its compiler made. The
// blob is a weight like any other, so it is stored, shared and replaced like one.
struct ExternalParams {
  std::string provider;  // the name that it is registered under
  // By input after the blob, "[batch, 3]"; empty: any shape. Symbols get their values from the inputs.
  std::vector<std::string> input_shapes;
  std::vector<int64_t> output_dtypes;      // numbers of ONNX
  std::vector<std::string> output_shapes;  // by output; empty, or with a symbol that no input has: the provider decides
  void fields(FieldVisitor& v) {
    v.field("provider", provider);
    v.field("input_shapes", input_shapes);
    v.field("output_dtypes", output_dtypes);
    v.field("output_shapes", output_shapes);
  }
};

}  // namespace tenon
