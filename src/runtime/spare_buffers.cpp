#include "runtime/spare_buffers.h"

namespace tenon {

Result<Tensor> SpareBuffers::take(DType dtype, std::vector<int64_t> dims) {
  const int64_t bytes = *storage_bytes(dtype, count_of(dims));
  std::shared_ptr<Buffer> buffer;
  {
    std::lock_guard lock(mutex_);
    if (const auto it = spare_.find(bytes); it != spare_.end()) {
      buffer = std::move(it->second.back());
      it->second.pop_back();
      kept_ -= bytes;
      if (it->second.empty()) spare_.erase(it);
    }
  }
  if (!buffer) {
    TN_ASSIGN_OR_RETURN(buffer, Buffer::allocate(bytes, nullptr));
  }
  std::byte* data = buffer->data();
  // The pool may be gone when the last tensor goes.
  std::shared_ptr<const void> owner(data, [pool = weak_from_this(), buffer](const void*) mutable {
    if (const auto alive = pool.lock()) alive->give_back(std::move(buffer));
  });
  return Tensor::borrow(dtype, std::move(dims), data, std::move(owner));
}

void SpareBuffers::give_back(std::shared_ptr<Buffer> buffer) {
  std::lock_guard lock(mutex_);
  const int64_t bytes = buffer->size();
  if (kept_ + bytes > limit_) return;
  kept_ += bytes;
  spare_[bytes].push_back(std::move(buffer));
}

void SpareBuffers::keep_at_most(int64_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  drop_surplus();
}

void SpareBuffers::drop_surplus() {
  while (kept_ > limit_) {
    const auto largest = std::prev(spare_.end());
    kept_ -= largest->first;
    largest->second.pop_back();
    if (largest->second.empty()) spare_.erase(largest);
  }
}

int64_t SpareBuffers::kept_bytes() const {
  std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace tenon
