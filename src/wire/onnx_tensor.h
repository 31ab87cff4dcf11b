#pragma once

#include <memory>
#include <string>

#include "tensor/tensor.h"
#include "wire/onnx_model.h"

namespace tenon::wire {

// Where external data of a model may come from. Thread-safe for concurrent reads after construction.
class ExternalData {
 public:
  virtual ~ExternalData() = default;
  // The bytes [offset, offset+length) of `location` as a mapped view whose owner keeps the mapping alive;
  // length < 0 means to the end of the file.
  struct Region {
    Bytes bytes;
    std::shared_ptr<const void> owner;
  };
  virtual Result<Region> read(Bytes location, int64_t offset, int64_t length) = 0;
};

// Where a message says its elements are; length -1 when it does not say.
struct ExternalRegion {
  Bytes location;
  int64_t offset = 0, length = -1;
};
Result<ExternalRegion> external_region(const TensorProto& proto);

// The elements of a tensor message. Zero-copy for raw data and external data when `owner` keeps the message's bytes
// alive and they are aligned for the element type; typed fields, strings and unaligned bytes are copied.
// Counts, dtypes and sizes are checked against what the message really holds before anything is allocated.
Result<Tensor> decode_tensor(const TensorProto& proto, const std::shared_ptr<const void>& owner,
                             ExternalData* external);
// What decode_tensor would say about type and dims, without a look at the elements.
Status check_tensor(const TensorProto& proto);
// A dense tensor from a sparse one; refuses when the dense form exceeds max_bytes or an index is out of range.
Result<Tensor> densify(const SparseTensorProto& proto, const std::shared_ptr<const void>& owner, ExternalData* external,
                       int64_t max_bytes);

}  // namespace tenon::wire
