#pragma once

#include <string>

#include "base/memory.h"

namespace tenon {

// Counts the text of strings that a kernel is going to copy. A tensor of strings reserves its elements only, and an
// index may name a long string any number of times.
class TextMeter {
 public:
  explicit TextMeter(const MemoryBudget& budget) : left_(budget.limit() - budget.used()) {}

  Status add(const std::string& text) {
    left_ -= static_cast<int64_t>(text.size());
    if (left_ >= 0) return {};
    return error(Code::ResourceLimit, "copies of strings exceed the limit of memory (raise the option 'memory_limit')");
  }

 private:
  int64_t left_;
};

}  // namespace tenon
