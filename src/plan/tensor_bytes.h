#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"
#include "tensor/tensor.h"

// Tensors as an artifact stores them: numbers as they are in memory, strings as one block.
namespace tenon {

// The stored bytes: a view of the tensor's own memory, or of `scratch`, which holds strings in their stored form.
std::string_view stored_bytes(const Tensor& tensor, std::string& scratch);
// Of the stored bytes.
Hash128 content_hash(const Tensor& tensor);

// A tensor over stored bytes that `owner` keeps alive. Numbers are borrowed, strings are copied.
Result<Tensor> tensor_from_stored(DType dtype, const std::vector<int64_t>& dims, std::string_view bytes,
                                  std::shared_ptr<const void> owner);
// Whether a tensor of this dtype and these dims can take that many stored bytes.
Status check_stored_size(DType dtype, Dims dims, int64_t bytes);

}  // namespace tenon
