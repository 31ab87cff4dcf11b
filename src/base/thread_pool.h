#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace tenon {

// Workers that help callers with loops. Whoever calls works too, so that a pool without workers, or one whose workers
// are busy elsewhere, only makes a loop slower. Several callers share the workers. Thread-safe.
class ThreadPool {
 public:
  // As many as the CPU quota leaves beside the caller.
  static int default_workers();

  explicit ThreadPool(int workers = default_workers());
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int workers() const { return static_cast<int>(threads_.size()); }

  // Calls body(i) once for every i in [0, chunks) and returns when all calls have. The caller and at most max_helpers
  // workers begin with shares of neighbouring chunks, the same ones in every loop of as many chunks: what a thread
  // wrote in one loop is in its caches when it reads it in the next. Who is done with a share goes on with what is left
  // of the others. A call from inside a body runs on this thread alone. When a call throws, chunks that nobody has
  // begun are skipped and the first exception leaves parallel_for, on the caller's thread, after all helpers have left
  // the body.
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body, int max_helpers = std::numeric_limits<int>::max());

  // Which of the threads at a loop this is: 0 for its caller, 1 to max_helpers for those who help. 0 outside of loops.
  static int place_in_loop();

 private:
  // Neighbouring chunks.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  static constexpr size_t kMostShares = 16;

  struct Job {
    Job(FunctionRef<void(int64_t)> body, int64_t chunks, int64_t max_helpers);
    FunctionRef<void(int64_t)> body;
    int64_t chunks;
    uint32_t max_helpers;
    std::array<Share, kMostShares> shares;
    size_t share_count = 1;
    bool flushes_subnormals;      // as the caller's thread does
    std::atomic<int> helpers{0};  // that came, whether or not they found a chunk
    std::atomic<bool> failed{false};
    std::exception_ptr failure{};  // written by whoever sets `failed`, read when all have left
    bool is_claimed() const;
    void work(size_t first_share);
  };
  // Where a caller offers its loop.
  struct alignas(64) Desk {
    std::atomic<bool> taken{false};
    std::atomic<uint32_t> gate{0};  // whether workers may come in, and how many are inside
    Job* job = nullptr;
    bool enter();
  };
  // More callers at a time than this run their loops alone.
  static constexpr size_t kDesks = 16;

  Desk* take_desk();
  bool help_somebody(size_t worker, size_t first_desk);
  void worker_loop(size_t index);
  uint32_t wait_for_job(uint32_t seen);

  std::vector<std::thread> threads_;
  std::array<Desk, kDesks> desks_;
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<uint32_t> epoch_{0};  // a count of jobs that sleepers watch
};

}  // namespace tenon
