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

}  // namespace tenon
