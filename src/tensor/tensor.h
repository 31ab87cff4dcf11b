#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "tensor/dtype.h"

namespace tenon {

using Dims = std::span<const int64_t>;

// The elements of a tensor that exists, so that their number fits; with a zero among them the other dims may be
// anything.
inline int64_t count_of(Dims dims) {
  for (int64_t d : dims)
    if (d == 0) return 0;
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// Elements somewhere in memory: row-major, dense. Owns nothing.
struct TensorView {
  DType dtype = DType::Undefined;
  Dims dims;
  void* data = nullptr;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size() const { return count_of(dims); }
  int64_t bytes() const { return *storage_bytes(dtype, size()); }
  // The elements as their C++ type, which must match the dtype.
  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(data), static_cast<size_t>(size())};
  }
};

// A dense tensor that shares ownership of its elements with its copies. Elements of a shared tensor are read-only
// by agreement: whoever creates it writes it, nobody after that.
class Tensor {
 public:
  Tensor() = default;

  // Uninitialised numbers, or empty strings.
  static Result<Tensor> allocate(DType dtype, std::vector<int64_t> dims, const std::shared_ptr<MemoryBudget>& budget);
  // Over memory that owner keeps alive (or the caller does, when owner is null).
  static Tensor borrow(DType dtype, std::vector<int64_t> dims, const void* data, std::shared_ptr<const void> owner);
  // Small constants, outside any budget.
  template <class T>
  static Tensor of(std::vector<int64_t> dims, std::span<const T> values);
  static Tensor of_ints(std::span<const int64_t> values);  // 1-D int64
  static Tensor scalar(int64_t value);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t size() const { return count_of(dims_); }
  int64_t bytes() const { return *storage_bytes(dtype_, size()); }
  const void* data() const { return data_; }
  void* mutable_data() { return data_; }
  template <class T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data_), static_cast<size_t>(size())};
  }
  template <class T>
  std::span<T> as_mutable() {
    return {static_cast<T*>(data_), static_cast<size_t>(size())};
  }
  TensorView view() const { return {dtype_, dims_, data_}; }
  // The same elements under other dims of the same count.
  Tensor reshaped(std::vector<int64_t> dims) const;
  bool defined() const { return dtype_ != DType::Undefined; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  DType dtype_ = DType::Undefined;
  std::vector<int64_t> dims_;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

template <class T>
Tensor Tensor::of(std::vector<int64_t> dims, std::span<const T> values) {
  auto owner = std::make_shared<std::vector<T>>(values.begin(), values.end());
  const void* data = owner->data();
  return borrow(dtype_of<T>, std::move(dims), data, std::move(owner));
}

// Copies elements (assigning strings); both have the same dtype and size.
void copy_elements(const TensorView& from, const TensorView& to);

// Sub-byte elements to one byte each (sign-extended for signed types) and back.
void unpack_sub_byte(DType dtype, const void* packed, int64_t elements, void* one_per_byte);
void pack_sub_byte(DType dtype, const void* one_per_byte, int64_t elements, void* packed);

}  // namespace tenon
