#include "base/memory.h"

#include <cstdlib>
#include <cstring>

#include "base/memory_charge.h"

namespace tenon {

Status MemoryBudget::reserve(int64_t bytes) {
  if (try_reserve(bytes)) return {};
  reclaim();
  if (try_reserve(bytes)) return {};
  return error(
      Code::ResourceLimit,
      "{} more bytes of memory are needed while {} are in use, but the limit is {} (raise the option 'memory_limit')",
      bytes, used(), limit_);
}

bool MemoryBudget::try_reserve(int64_t bytes) {
  int64_t before = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - before) return false;
  } while (!used_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  const int64_t now = before + bytes;
  int64_t seen = peak_.load(std::memory_order_relaxed);
  while (seen < now && !peak_.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
  return true;
}

Result<std::shared_ptr<Buffer>> Buffer::allocate(int64_t bytes, const std::shared_ptr<MemoryBudget>& budget) {
  if (bytes < 0) return error(Code::ResourceLimit, "a buffer of {} bytes is too large", bytes);
  if (budget) TN_RETURN_IF_ERROR(budget->reserve(charge_for(bytes)));
  // The tail after the last element is zero so that over-reading kernels never see garbage.
  size_t padded = (static_cast<size_t>(bytes) + 2 * kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, padded));
  if (!data && budget) {
    budget->reclaim();
    data = static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, padded));
  }
  if (!data) {
    if (budget) budget->release(charge_for(bytes));
    return error(Code::ResourceLimit, "the operating system cannot provide {} bytes of memory", bytes);
  }
  std::memset(data + bytes, 0, padded - static_cast<size_t>(bytes));
  return std::shared_ptr<Buffer>(new Buffer(data, bytes, budget));
}

Buffer::~Buffer() {
  std::free(data_);
  if (budget_) budget_->release(charge_for(size_));
}

}  // namespace tenon
