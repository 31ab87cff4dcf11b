#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace tenon {

namespace {

std::atomic<uint64_t> forks{0};

}  // namespace

uint64_t fork_count() {
  static const bool watching = [] {
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    return true;
  }();
  static_cast<void>(watching);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace tenon
