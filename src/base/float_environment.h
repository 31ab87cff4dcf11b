#pragma once

#include <cstdint>

namespace tenon {

// While one lives, its thread computes in the default floating-point environment: to nearest, with denormal numbers,
// without traps. Its end brings back what the thread had before, status flags included. Costs a few nanoseconds.
// Callers may have set anything: other frameworks flush denormal numbers to zero, some languages trap. A new thread
// inherits the environment of the one that starts it.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment();
  ~DefaultFloatEnvironment();
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  uint64_t saved_;
};

// Whether subnormal numbers are zero on this thread, as operands and as results. Some processors take a hundred cycles
// for each operation that meets one.
bool flushes_subnormals();
void flush_subnormals(bool flush);

// Brings back what its thread did with subnormal numbers when it began.
class SubnormalScope {
 public:
  SubnormalScope() : before_(flushes_subnormals()), now_(before_) {}
  ~SubnormalScope() { flush(before_); }
  SubnormalScope(const SubnormalScope&) = delete;
  SubnormalScope& operator=(const SubnormalScope&) = delete;
  void flush(bool flush) {
    if (flush != now_) flush_subnormals(flush);
    now_ = flush;
  }

 private:
  bool before_, now_;
};

}  // namespace tenon
