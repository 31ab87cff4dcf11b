#include "tensor/tensor.h"

#include <cstring>

#include "base/checked_math.h"
#include "base/memory_charge.h"
#include "tensor/dim.h"
#include "tensor/max_rank.h"
#include "tensor/sub_byte.h"

namespace tenon {

namespace {
struct StringStorage {
  std::shared_ptr<MemoryBudget> budget;
  int64_t reserved = 0;
  std::vector<std::string> strings;
  ~StringStorage() {
    if (budget) budget->release(reserved);
  }
};
}  // namespace

Result<Tensor> Tensor::allocate(DType dtype, std::vector<int64_t> dims, const std::shared_ptr<MemoryBudget>& budget) {
  if (dims.size() > kMaxRank)
    return error(Code::ResourceLimit, "a tensor would have {} dimensions; the limit is {}", dims.size(), kMaxRank);
  auto count = checked_product(dims);
  auto bytes = count ? storage_bytes(dtype, *count) : std::nullopt;
  if (!bytes)
    return error(Code::ResourceLimit, "the tensor shape {} is negative or too large",
                 shape_text(Shape(dims.begin(), dims.end())));
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = std::move(dims);
  if (dtype == DType::String) {
    if (budget) TN_RETURN_IF_ERROR(budget->reserve(charge_for(*bytes)));
    auto storage = std::make_shared<StringStorage>();
    storage->budget = budget;
    storage->reserved = charge_for(*bytes);
    storage->strings.resize(static_cast<size_t>(*count));
    t.data_ = storage->strings.data();
    t.owner_ = std::move(storage);
    return t;
  }
  TN_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(*bytes, budget));
  t.data_ = buffer->data();
  t.owner_ = std::move(buffer);
  return t;
}

Tensor Tensor::borrow(DType dtype, std::vector<int64_t> dims, const void* data, std::shared_ptr<const void> owner) {
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = std::move(dims);
  t.data_ = const_cast<void*>(data);
  t.owner_ = std::move(owner);
  return t;
}

Tensor Tensor::of_ints(std::span<const int64_t> values) {
  return of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

Tensor Tensor::scalar(int64_t value) { return of<int64_t>({}, std::span<const int64_t>(&value, 1)); }

Tensor Tensor::reshaped(std::vector<int64_t> dims) const {
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

void copy_elements(const TensorView& from, const TensorView& to) {
  if (from.dtype == DType::String) {
    auto source = from.as<std::string>();
    auto target = to.as<std::string>();
    for (size_t i = 0; i < source.size(); ++i) target[i] = source[i];
    return;
  }
  if (const int64_t bytes = from.bytes(); bytes > 0) std::memmove(to.data, from.data, static_cast<size_t>(bytes));
}

void unpack_sub_byte(DType dtype, const void* packed, int64_t elements, void* one_per_byte) {
  const int bits = dtype_bits(dtype);
  const bool is_signed = is_signed_integer(dtype);
  const auto* source = static_cast<const uint8_t*>(packed);
  auto* target = static_cast<uint8_t*>(one_per_byte);
  for (int64_t i = 0; i < elements; ++i) {
    int value = static_cast<int>(sub_byte_at(source, i, bits));
    if (is_signed && value >= 1 << (bits - 1)) value -= 1 << bits;
    target[i] = static_cast<uint8_t>(value);
  }
}

void pack_sub_byte(DType dtype, const void* one_per_byte, int64_t elements, void* packed) {
  const int bits = dtype_bits(dtype);
  const auto* source = static_cast<const uint8_t*>(one_per_byte);
  auto* target = static_cast<uint8_t*>(packed);
  std::memset(target, 0, static_cast<size_t>(*storage_bytes(dtype, elements)));
  for (int64_t i = 0; i < elements; ++i) put_sub_byte(target, i, bits, source[i]);
}

}  // namespace tenon
