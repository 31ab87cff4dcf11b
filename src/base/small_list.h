#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace tenon {

// A list whose length is known when it is made, such as one number per axis; up to N elements without an allocation.
template <class T, size_t N>
class SmallList {
 public:
  SmallList() = default;
  SmallList(size_t size, const T& value) : size_(size) {
    if (size > N)
      many_.assign(size, value);
    else
      std::fill_n(few_.begin(), size, value);
  }
  SmallList(const std::vector<T>& list) : SmallList(list.size(), T{}) { std::ranges::copy(list, begin()); }

  size_t size() const { return size_; }
  T* data() { return many_.empty() ? few_.data() : many_.data(); }
  const T* data() const { return many_.empty() ? few_.data() : many_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  operator std::vector<T>() const { return {begin(), end()}; }

 private:
  size_t size_ = 0;
  std::array<T, N> few_{};
  std::vector<T> many_;  // when there are more than N
};

}  // namespace tenon
