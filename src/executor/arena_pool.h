#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/memory.h"

namespace tenon {

// Memory for the values of runs, kept from run to run. Any run can use any of it, whatever its shapes. Thread-safe.
class ArenaPool {
 public:
  explicit ArenaPool(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  // At least so many bytes.
  Result<std::shared_ptr<Buffer>> take(int64_t bytes);
  // keep: false for one that a larger one will replace.
  void give_back(std::shared_ptr<Buffer> arena, bool keep);
  // Frees what no run uses.
  void release_idle();
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Buffer>> idle_;  // by size
  int in_use_ = 0;
};

// The memory of one run: blocks that are given back in the reverse order of their taking, as bodies run inside of
// steps. The pool is asked for one piece that is enough for all of them once the run is known, and for more when it is
// not.
class RunArena {
 public:
  // expected: what the run will need as far as somebody knows.
  RunArena(ArenaPool& pool, int64_t expected) : pool_(pool), expected_(expected) {}
  ~RunArena();
  RunArena(const RunArena&) = delete;
  RunArena& operator=(const RunArena&) = delete;

  // Aligned to 64 bytes.
  Result<std::byte*> take(int64_t bytes);

  struct Mark {
    size_t full = 0;
    int64_t used = 0, total = 0;
  };
  Mark mark() const { return {full_.size(), used_, total_}; }
  // Everything that was taken since.
  void give_back(const Mark& mark);
  // The most bytes that were taken at the same time.
  int64_t most() const { return most_; }
  // Whether the pool gave more than that: memory that a larger run left, or room to grow.
  bool has_spare() const { return full_.empty() && piece_ && piece_->size() > (most_ + 63) / 64 * 64; }
  // Nobody gets the memory after this run.
  void forget() { keep_ = false; }

 private:
  ArenaPool& pool_;
  int64_t expected_;
  std::shared_ptr<Buffer> piece_;              // what lies behind `used` is free
  std::vector<std::shared_ptr<Buffer>> full_;  // that did not suffice; nearly always none
  int64_t used_ = 0;
  int64_t total_ = 0, most_ = 0;
  bool keep_ = true;
};

}  // namespace tenon
