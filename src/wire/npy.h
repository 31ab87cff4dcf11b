#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"
#include "wire/proto_writer.h"

// NumPy array files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
namespace tenon::wire {

// The array in the bytes of a .npy file, in row-major order and native byte order. Zero-copy when `owner` keeps the
// bytes alive and they can be used as they are. NumPy saves types it does not know (bfloat16, float8, int4, ...) as
// void bytes, one element per 1 or 2 bytes: `void_dtype` says which type they are, and is ignored for other arrays.
// Fixed-width text becomes strings: U as UTF-8, S byte for byte, both without trailing zeros. Elements that need
// another form take their memory from the budget, if there is one.
Result<Tensor> parse_npy(Bytes bytes, const std::shared_ptr<const void>& owner,
                         std::optional<DType> void_dtype = std::nullopt,
                         const std::shared_ptr<MemoryBudget>& budget = nullptr);
// What an array is, from the first bytes of a .npy file of `file_bytes`, which must be as long as that takes.
struct NpyDescription {
  DType dtype = DType::Undefined;
  std::vector<int64_t> dims;
};
Result<NpyDescription> describe_npy(Bytes beginning, uint64_t file_bytes,
                                    std::optional<DType> void_dtype = std::nullopt);
// `path` may be mapped; the tensor keeps it alive.
Result<Tensor> read_npy(const std::string& path, std::optional<DType> void_dtype = std::nullopt,
                        const std::shared_ptr<MemoryBudget>& budget = nullptr);

// A .npy file in two pieces: header, and elements, which are the tensor's own where NumPy has them the same way.
struct EncodedNpy {
  std::string header;
  std::string converted;  // the elements of strings and sub-byte types
  Tensor tensor;          // keeps the elements of all others alive
  Bytes data() const;     // valid while this lives unmoved
};
// Fails for strings NumPy cannot hold: invalid UTF-8, or a zero character at the end.
Result<EncodedNpy> encode_npy(const Tensor& tensor);
Status write_npy(const std::string& path, const Tensor& tensor);

}  // namespace tenon::wire
