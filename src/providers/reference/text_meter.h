#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "providers/provider.h"

namespace tenon {

// Copies elements and counts the text of strings on the way: a tensor of strings reserves its elements only, and an
// index or a broadcast may name a long string any number of times. Ends the kernel when memory does not hold the text.
class TextMeter {
 public:
  TextMeter() {
    if (KernelServices* services = KernelScope::current())
      left_ = services->budget()->limit() - services->budget()->used();
  }

  void add(size_t bytes) {
    left_ -= static_cast<int64_t>(bytes);
    if (left_ < 0)
      throw KernelStop{error(Code::ResourceLimit,
                             "the strings in the result exceed the memory limit (raise the option 'memory_limit')")};
  }
  template <class T>
  void copy(const T& from, T& to) {
    if constexpr (std::is_same_v<T, std::string>) add(from.size());
    to = from;
  }
  template <class T>
  void copy_n(const T* from, int64_t count, T* to) {
    if constexpr (std::is_same_v<T, std::string>)
      for (int64_t i = 0; i < count; ++i) add(from[i].size());
    std::copy_n(from, count, to);
  }

 private:
  int64_t left_ = std::numeric_limits<int64_t>::max();
};

}  // namespace tenon
