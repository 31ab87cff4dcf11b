#include "plan/tensor_bytes.h"

#include "base/checked_math.h"
#include "plan/bytes.h"
#include "tensor/canonical.h"

namespace tenon {

namespace {

// Where each string ends, then all of them.
std::string strings_to_bytes(std::span<const std::string> strings) {
  ByteWriter out;
  uint64_t end = 0;
  for (const std::string& string : strings) out.put(end += string.size());
  for (const std::string& string : strings) out.put_raw(string);
  return out.take();
}

Result<Tensor> strings_from_bytes(const std::vector<int64_t>& dims, std::string_view bytes) {
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(DType::String, dims, nullptr));
  ByteReader in(bytes);
  const size_t count = static_cast<size_t>(tensor.size());
  const std::string_view text = bytes.substr(count * sizeof(uint64_t));
  uint64_t begin = 0;
  for (std::string& string : tensor.as_mutable<std::string>()) {
    const auto end = in.get<uint64_t>();
    if (end < begin || end > text.size()) return invalid_model("the strings of a tensor are damaged");
    string = text.substr(begin, end - begin);
    begin = end;
  }
  if (begin != text.size()) return invalid_model("{} bytes follow the strings of a tensor", text.size() - begin);
  return tensor;
}

}  // namespace

std::string_view stored_bytes(const Tensor& tensor, std::string& scratch) {
  if (tensor.dtype() == DType::String) return scratch = strings_to_bytes(tensor.as<std::string>());
  return {static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes())};
}

Hash128 content_hash(const Tensor& tensor) {
  std::string scratch;
  return hash_bytes(stored_bytes(tensor, scratch));
}

Status check_stored_size(DType dtype, Dims dims, int64_t bytes) {
  const auto elements = checked_product(dims);
  const auto needed = elements ? storage_bytes(dtype, *elements) : std::nullopt;
  if (!needed) return invalid_model("the shape is negative or too large");
  if (dtype == DType::String) {
    const auto ends = checked_mul(*elements, sizeof(uint64_t));
    if (!ends || *ends > bytes) return invalid_model("{} bytes cannot hold {} strings", bytes, *elements);
  } else if (*needed != bytes) {
    return invalid_model("{} elements of {} take {} bytes, but there are {}", *elements, dtype_name(dtype), *needed,
                         bytes);
  }
  return {};
}

Result<Tensor> tensor_from_stored(DType dtype, const std::vector<int64_t>& dims, std::string_view bytes,
                                  std::shared_ptr<const void> owner) {
  TN_RETURN_IF_ERROR(check_stored_size(dtype, dims, static_cast<int64_t>(bytes.size())));
  if (dtype == DType::String) return strings_from_bytes(dims, bytes);
  return canonical(Tensor::borrow(dtype, dims, bytes.data(), std::move(owner)), nullptr);
}

}  // namespace tenon
