#pragma once

#include "base/function_ref.h"
#include "wire/onnx_model.h"

namespace tenon::wire {

// Visits every tensor message of a model in the order of the file: of graphs, bodies and functions, also the parts of
// sparse tensors.
void for_each_tensor(const Model& model, FunctionRef<void(const TensorProto&)> visit);

}  // namespace tenon::wire
