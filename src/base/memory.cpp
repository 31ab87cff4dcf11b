#include "base/memory.h"

#include <cstdlib>
#include <cstring>

namespace tenon {

Status MemoryBudget::reserve(int64_t bytes) {
  int64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (now > limit_) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    return error(Code::ResourceLimit,
                 "needs {} more bytes of memory with {} in use; the limit is {} (raise the option 'memory_limit')",
                 bytes, now - bytes, limit_);
  }
  int64_t seen = peak_.load(std::memory_order_relaxed);
  while (seen < now && !peak_.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
  return {};
}

Result<std::shared_ptr<Buffer>> Buffer::allocate(int64_t bytes, const std::shared_ptr<MemoryBudget>& budget) {
  if (bytes < 0) return error(Code::ResourceLimit, "a buffer of {} bytes cannot exist", bytes);
  if (budget) TN_RETURN_IF_ERROR(budget->reserve(bytes));
  // The tail after the last element is zero so that over-reading kernels never see garbage.
  size_t padded = (static_cast<size_t>(bytes) + 2 * kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, padded));
  if (!data) {
    if (budget) budget->release(bytes);
    return error(Code::ResourceLimit, "the operating system has no {} bytes of memory", bytes);
  }
  std::memset(data + bytes, 0, padded - static_cast<size_t>(bytes));
  return std::shared_ptr<Buffer>(new Buffer(data, bytes, budget));
}

Buffer::~Buffer() {
  std::free(data_);
  if (budget_) budget_->release(size_);
}

}  // namespace tenon
