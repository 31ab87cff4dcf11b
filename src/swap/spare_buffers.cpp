#include "swap/spare_buffers.h"

#include <sys/mman.h>
#include <unistd.h>

namespace tenon {

// Whole pages for what is large: in the heap, weights that stay would lie between scratch that goes, and its memory
// could not be given back.
class SpareBuffers::Block {
 public:
  static Result<std::shared_ptr<Block>> make(int64_t bytes) {
    std::shared_ptr<Block> block(new Block(bytes));
    if (bytes < kOwnPages) {
      TN_ASSIGN_OR_RETURN(block->small_, Buffer::allocate(bytes, nullptr));
      block->data_ = block->small_->data();
      return block;
    }
    // As in a Buffer, kernels may read a little beyond the end.
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t mapped = (static_cast<size_t>(bytes) + kBufferAlignment + page - 1) / page * page;
    void* pages = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
      return error(Code::ResourceLimit, "the operating system cannot provide {} bytes of memory", bytes);
    block->mapped_ = mapped;
    block->data_ = static_cast<std::byte*>(pages);
    return block;
  }
  ~Block() {
    if (mapped_) ::munmap(data_, mapped_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  static constexpr int64_t kOwnPages = 256 << 10;
  explicit Block(int64_t bytes) : bytes_(bytes) {}

  int64_t bytes_;
  std::byte* data_ = nullptr;
  size_t mapped_ = 0;
  std::shared_ptr<Buffer> small_;
};

Result<Tensor> SpareBuffers::take(DType dtype, std::vector<int64_t> dims) {
  const int64_t bytes = *storage_bytes(dtype, count_of(dims));
  std::shared_ptr<Block> block;
  {
    std::lock_guard lock(mutex_);
    if (const auto it = spare_.find(bytes); it != spare_.end()) {
      block = std::move(it->second.back());
      it->second.pop_back();
      kept_ -= bytes;
      if (it->second.empty()) spare_.erase(it);
    }
  }
  if (!block) {
    TN_ASSIGN_OR_RETURN(block, Block::make(bytes));
  }
  std::byte* data = block->data();
  // The pool may be gone when the last tensor goes.
  std::shared_ptr<const void> owner(data, [pool = weak_from_this(), block](const void*) mutable {
    if (const auto alive = pool.lock()) alive->give_back(std::move(block));
  });
  return Tensor::borrow(dtype, std::move(dims), data, std::move(owner));
}

void SpareBuffers::give_back(std::shared_ptr<Block> block) {
  std::lock_guard lock(mutex_);
  const int64_t bytes = block->bytes();
  if (kept_ + bytes > limit_) return;
  kept_ += bytes;
  spare_[bytes].push_back(std::move(block));
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
