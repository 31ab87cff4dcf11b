#include "executor/limits.h"

#include "base/cpu.h"

namespace tenon {

int64_t default_memory_limit() {
  static const int64_t limit = machine_memory() / 4 * 3;
  return limit;
}

}  // namespace tenon
