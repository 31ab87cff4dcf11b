#include "executor/arena_pool.h"

#include <algorithm>

namespace tenon {

namespace {

int64_t size_of(const std::shared_ptr<Buffer>& arena) { return arena->size(); }

}  // namespace

Result<std::shared_ptr<Buffer>> ArenaPool::take(int64_t bytes) {
  std::shared_ptr<Buffer> too_small;  // freed without the lock
  {
    const std::lock_guard lock(mutex_);
    ++in_use_;
    const auto fit = std::ranges::lower_bound(idle_, bytes, {}, size_of);
    if (fit != idle_.end()) {
      std::shared_ptr<Buffer> arena = std::move(*fit);
      idle_.erase(fit);
      return arena;
    }
    // A larger one takes its place.
    if (!idle_.empty()) {
      too_small = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  // Sizes that grow from run to run shall not need new memory each time.
  const bool grows = too_small != nullptr;
  too_small.reset();
  if (grows)
    if (auto roomy = Buffer::allocate(bytes + bytes / 8, budget_); roomy.ok()) return roomy;
  auto arena = Buffer::allocate(bytes, budget_);
  if (!arena.ok()) {
    const std::lock_guard lock(mutex_);
    --in_use_;
  }
  return arena;
}

void ArenaPool::give_back(std::shared_ptr<Buffer> arena, bool keep) {
  std::shared_ptr<Buffer> largest;
  std::vector<std::shared_ptr<Buffer>> rest;  // freed without the lock
  const std::lock_guard lock(mutex_);
  --in_use_;
  if (keep) {
    const auto place = std::ranges::upper_bound(idle_, arena->size(), {}, size_of);
    idle_.insert(place, std::move(arena));
  }
  // A session that rests holds the memory of one run.
  if (in_use_ == 0 && idle_.size() > 1) {
    largest = std::move(idle_.back());
    rest.swap(idle_);
    idle_.push_back(std::move(largest));
  }
}

void ArenaPool::release_idle() {
  std::vector<std::shared_ptr<Buffer>> released;  // freed without the lock
  const std::lock_guard lock(mutex_);
  released.swap(idle_);
}

RunArena::~RunArena() {
  // Several pieces: the next run asks for one that is as large as all.
  const bool keep = keep_ && full_.empty();
  if (piece_) pool_.give_back(std::move(piece_), keep);
  for (auto& piece : full_) pool_.give_back(std::move(piece), keep);
}

Result<std::byte*> RunArena::take(int64_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  if (!piece_ || piece_->size() - used_ < bytes) {
    TN_ASSIGN_OR_RETURN(auto piece, pool_.take(piece_ ? bytes : std::max(bytes, expected_)));
    if (piece_) full_.push_back(std::move(piece_));
    piece_ = std::move(piece);
    used_ = 0;
  }
  std::byte* const block = piece_->data() + used_;
  used_ += bytes;
  total_ += bytes;
  most_ = std::max(most_, total_);
  return block;
}

void RunArena::give_back(const Mark& mark) {
  total_ = mark.total;
  // A piece that came after the mark stays, empty.
  used_ = full_.size() == mark.full ? mark.used : 0;
}

}  // namespace tenon
