#include <algorithm>
#include <cstring>

#include "tensor/sub_byte.h"
#include "wire/onnx_tensor.h"
#include "wire/onnx_tensor_storage.h"

namespace tenon::wire {

namespace {

// Positions in the dense row-major order, one per value, checked against the dims.
Result<std::vector<int64_t>> linear_positions(const Tensor& indices, int64_t count, const std::vector<int64_t>& dims,
                                              int64_t dense_elements) {
  const auto rank = static_cast<int64_t>(dims.size());
  const bool linear = indices.dims() == std::vector<int64_t>{count};
  const bool coordinates = indices.dims() == std::vector<int64_t>{count, rank};
  if (indices.dtype() != DType::Int64 || (!linear && !coordinates))
    return invalid_model("{} values need int64 indices with dims [{}] or [{},{}], but the indices are {} with dims {}",
                         count, count, count, rank, dtype_name(indices.dtype()), dims_text(indices.dims()));
  const auto data = indices.as<int64_t>();
  std::vector<int64_t> positions(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    if (linear) {
      position = data[i];
      if (position < 0 || position >= dense_elements)
        return invalid_model("index {} is outside a tensor of {} elements", position, dense_elements);
    } else {
      for (int64_t axis = 0; axis < rank; ++axis) {
        const int64_t index = data[i * rank + axis];
        if (index < 0 || index >= dims[axis])
          return invalid_model("index {} is outside dims {} on axis {}", index, dims_text(dims), axis);
        position = position * dims[axis] + index;
      }
    }
    positions[i] = position;
  }
  return positions;
}

Status check_distinct(const std::vector<int64_t>& positions) {
  const auto not_ascending = [](int64_t a, int64_t b) { return a >= b; };
  if (std::adjacent_find(positions.begin(), positions.end(), not_ascending) == positions.end()) return {};
  auto sorted = positions;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return invalid_model("position {} has more than one value", *twice);
  return {};
}

void scatter(const Tensor& values, const std::vector<int64_t>& positions, Tensor& dense) {
  if (values.dtype() == DType::String) {
    for (size_t i = 0; i < positions.size(); ++i)
      dense.as_mutable<std::string>()[positions[i]] = values.as<std::string>()[i];
    return;
  }
  const auto* from = static_cast<const uint8_t*>(values.data());
  auto* to = static_cast<uint8_t*>(dense.mutable_data());
  const int bits = dtype_bits(values.dtype());
  if (bits >= 8) {
    const size_t width = static_cast<size_t>(bits) / 8;
    for (size_t i = 0; i < positions.size(); ++i)
      std::memcpy(to + static_cast<size_t>(positions[i]) * width, from + i * width, width);
    return;
  }
  for (size_t i = 0; i < positions.size(); ++i)
    put_sub_byte(to, positions[i], bits, sub_byte_at(from, static_cast<int64_t>(i), bits));
}

Result<Tensor> densify_named(const SparseTensorProto& proto, const std::shared_ptr<const void>& owner,
                             ExternalData* external, int64_t max_bytes) {
  TN_ASSIGN_OR_RETURN(const Tensor values, decode_tensor(proto.values, owner, external));
  const auto elements = count_elements(values.dtype(), proto.dims);
  if (!elements) return invalid_model("dims {} are negative or too large", dims_text(proto.dims));
  const int64_t bytes = *storage_bytes(values.dtype(), *elements);
  if (bytes > max_bytes)
    return error(Code::ResourceLimit, "the dense form needs {} bytes; the limit is {}", bytes, max_bytes);
  if (values.dims().size() != 1)
    return invalid_model("the values have dims {}, but they must have one dimension", dims_text(values.dims()));
  const int64_t count = values.size();
  std::vector<int64_t> positions;
  if (count > 0) {
    TN_ASSIGN_OR_RETURN(const Tensor indices, decode_tensor(proto.indices, owner, external));
    TN_ASSIGN_OR_RETURN(positions, linear_positions(indices, count, proto.dims, *elements));
    TN_RETURN_IF_ERROR(check_distinct(positions));
  }
  TN_ASSIGN_OR_RETURN(Tensor dense, Tensor::allocate(values.dtype(), proto.dims, nullptr));
  if (values.dtype() != DType::String) std::memset(dense.mutable_data(), 0, static_cast<size_t>(bytes));
  scatter(values, positions, dense);
  return dense;
}

}  // namespace

Result<Tensor> densify(const SparseTensorProto& proto, const std::shared_ptr<const void>& owner, ExternalData* external,
                       int64_t max_bytes) {
  auto tensor = densify_named(proto, owner, external, max_bytes);
  if (tensor.ok()) return tensor;
  return std::move(tensor).status().in(fmt::format("sparse tensor '{}'", proto.values.name));
}

}  // namespace tenon::wire
