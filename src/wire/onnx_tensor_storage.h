#pragma once

#include <optional>

#include "wire/onnx_tensor.h"
#include "wire/proto_reader.h"

// The pieces of decode_tensor; for src/wire only.
namespace tenon::wire {

// What a tensor message claims to be, after checking that this can exist.
struct TensorHeader {
  DType dtype = DType::Undefined;
  int64_t elements = 0;
  int64_t bytes = 0;  // as stored in memory and in raw data
};
Result<TensorHeader> check_header(const TensorProto& proto);

// The number of elements of a shape a tensor can have. Stricter than checked_product: also without its zeros the
// bytes of the shape must be a number.
std::optional<int64_t> count_elements(DType dtype, const std::vector<int64_t>& dims);

// "[2,3]", shortened after 16 dims.
std::string dims_text(const std::vector<int64_t>& dims);

// A tensor over little-endian packed elements, whose size is already checked. Borrows when owner is set and the
// bytes can be used as they are, else copies. Bools become 0 or 1, padding bits zero. Refuses strings.
Result<Tensor> tensor_over_bytes(const TensorHeader& header, const std::vector<int64_t>& dims, Bytes bytes,
                                 const std::shared_ptr<const void>& owner);

// Elements in the typed fields: float_data, int32_data, string_data, ... Throws on malformed fields.
Result<Tensor> decode_typed_data(const TensorProto& proto, const TensorHeader& header,
                                 const std::shared_ptr<const void>& owner);
bool has_typed_data(const TensorProto& proto);

}  // namespace tenon::wire
