#include "base/memory.h"

#include <sys/mman.h>

#include <cstdint>
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

namespace {

// Large buffers lie in large pages where the system has some: fewer faults when they are new, fewer misses later.
constexpr uintptr_t kLargePage = uintptr_t{2} << 20;

// Buffers are not aligned to large pages: the C library would give such memory back to the system each time.
std::byte* allocate_aligned(size_t bytes) {
  void* data = std::aligned_alloc(kBufferAlignment, bytes);
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t last = (begin + bytes) / kLargePage * kLargePage;
  // Without them it is slower, and no more than that.
  if (data && last > first) static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
  return static_cast<std::byte*>(data);
}

}  // namespace

Result<std::shared_ptr<Buffer>> Buffer::allocate(int64_t bytes, const std::shared_ptr<MemoryBudget>& budget) {
  if (bytes < 0) return error(Code::ResourceLimit, "a buffer of {} bytes is too large", bytes);
  if (budget) TN_RETURN_IF_ERROR(budget->reserve(charge_for(bytes)));
  // The tail after the last element is zero so that over-reading kernels never see garbage.
  size_t padded = (static_cast<size_t>(bytes) + 2 * kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  std::byte* data = allocate_aligned(padded);
  if (!data && budget) {
    budget->reclaim();
    data = allocate_aligned(padded);
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
