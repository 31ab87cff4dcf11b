#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace tenon {

// As many elements as are asked for; up to N of them without an allocation.
template <class T, size_t N>
class SmallArray {
 public:
  explicit SmallArray(size_t size) : size_(size) {
    if (size > N) many_ = std::make_unique<T[]>(size);
  }
  T* data() { return many_ ? many_.get() : few_.data(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data()[i]; }
  operator std::span<T>() { return {data(), size_}; }
  operator std::span<const T>() { return {data(), size_}; }

 private:
  std::array<T, N> few_{};
  std::unique_ptr<T[]> many_;
  size_t size_;
};

}  // namespace tenon
