#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"

namespace tenon {

inline constexpr size_t kBufferAlignment = 64;

// All run memory goes through a budget, so a limit holds whatever a model declares. Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_(limit_bytes) {}

  // Reserves bytes, or says which limit stands in the way.
  Status reserve(int64_t bytes);
  // Frees memory that is kept for speed alone. Called before a reservation is refused, from any thread that reserves,
  // so reserve with no lock held that this takes. Set it before the budget is shared, or when nobody reserves any more.
  void set_reclaim(std::function<void()> reclaim) { reclaim_ = std::move(reclaim); }
  void reclaim() const {
    if (reclaim_) reclaim_();
  }
  void release(int64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }

 private:
  bool try_reserve(int64_t bytes);

  int64_t limit_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> peak_{0};
  std::function<void()> reclaim_;
};

// An owned, 64-byte aligned block. Padded by one cache line that kernels may read but not write.
// Holds its share of a budget until destroyed; the budget must outlive it, hence the shared pointer.
class Buffer {
 public:
  static Result<std::shared_ptr<Buffer>> allocate(int64_t bytes, const std::shared_ptr<MemoryBudget>& budget);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() { return data_; }
  int64_t size() const { return size_; }

 private:
  Buffer(std::byte* data, int64_t size, std::shared_ptr<MemoryBudget> budget)
      : data_(data), size_(size), budget_(std::move(budget)) {}
  std::byte* data_;
  int64_t size_;
  std::shared_ptr<MemoryBudget> budget_;
};

}  // namespace tenon
