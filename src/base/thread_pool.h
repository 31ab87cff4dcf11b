#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace tenon {

// Workers that help callers with loops. Whoever calls works too, so that a pool without workers, or one whose workers
// are busy elsewhere, only makes a loop slower. Thread-safe.
class ThreadPool {
 public:
  // As many as the CPU quota leaves beside the caller.
  static int default_workers();

  explicit ThreadPool(int workers = default_workers());
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int workers() const { return static_cast<int>(threads_.size()); }

  // Calls body(i) once for every i in [0, chunks) and returns when all calls have. Chunks are claimed in order by the
  // caller and at most max_helpers workers. A call from inside a body, or while the workers help another caller, runs
  // on this thread alone. When a call throws, chunks that nobody has begun are skipped and the first exception leaves
  // parallel_for, on the caller's thread, after all helpers have left the body.
  void parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body, int max_helpers = std::numeric_limits<int>::max());

 private:
  struct Job {
    FunctionRef<void(int64_t)> body;
    int64_t chunks;
    uint32_t max_helpers;
    std::atomic<int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure{};  // written by whoever sets `failed`, read when all have left
    void work();
  };

  void worker_loop();
  uint32_t wait_for_job(uint32_t seen);
  bool enter();

  std::vector<std::thread> threads_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> stopping_{false};
  // The job that is open to workers, how many are at it, and a count of jobs that sleepers watch.
  Job* job_ = nullptr;
  alignas(64) std::atomic<uint32_t> gate_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
};

}  // namespace tenon
