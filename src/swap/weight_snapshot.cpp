#include "swap/weight_snapshot.h"

#include <atomic>

namespace tenon {

uint64_t SnapshotNumber::next() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace tenon
