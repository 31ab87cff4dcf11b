#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "tensor/tensor.h"
#include "wire/onnx_model.h"

namespace tenon::wire {

// A .safetensors file: named tensors behind a JSON header. Opening reads the header only; tensors are views into the
// mapped file. Immutable and so thread-safe.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    DType dtype = DType::Undefined;
    std::vector<int64_t> dims;
    int64_t offset = 0, bytes = 0;  // of the elements, from the start of the file
  };

  static Result<SafetensorsFile> open(const std::string& path);
  // `owner` keeps the bytes alive, for the reader and for tensors that need no copy.
  static Result<SafetensorsFile> parse(Bytes bytes, std::shared_ptr<const void> owner);

  const std::vector<Entry>& entries() const { return entries_; }  // sorted by name
  const Entry* find(std::string_view name) const;
  Result<Tensor> read(const Entry& entry) const;

 private:
  Bytes bytes_;
  std::shared_ptr<const void> owner_;
  std::vector<Entry> entries_;
};

// Whether the format has a name for an element type.
bool safetensors_has(DType dtype);

struct NamedTensor;
// Equal tensors make equal files. Strings and complex numbers have no name in this format and are refused.
Status write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors);

}  // namespace tenon::wire
