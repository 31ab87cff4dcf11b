#pragma once

#include <optional>
#include <string>

#include "wire/onnx_model.h"

namespace tenon {

// A region of a file that holds the elements of a tensor as they are.
struct FilePlace {
  std::string file;  // relative to the folder of the model or of the weights
  int64_t offset = 0, bytes = 0;
  bool has_names = false;  // the file names its tensors, and is not elements alone
};

// Where a tensor of the model `path`, whose bytes are `file`, can be found again; nothing for one that is only written
// as numbers.
std::optional<FilePlace> place_of(const wire::TensorProto& tensor, const std::string& path, wire::Bytes file);

}  // namespace tenon
