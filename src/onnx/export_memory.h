#pragma once

#include <deque>

#include "tensor/tensor.h"
#include "tensor/type.h"
#include "wire/onnx_build.h"

namespace tenon {

// What the new messages of an exported model refer to. Moving it leaves them valid.
struct ExportMemory {
  wire::MessageBuilder messages;
  std::deque<Tensor> tensors;

  wire::TensorProto make_tensor(std::string_view name, const Tensor& tensor);
  // What a file declares of a value. Extents that the user has no name for stay open.
  wire::TypeProto make_type(const Type& type);
};

}  // namespace tenon
