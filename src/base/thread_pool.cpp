#include "base/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/cpu.h"
#include "base/float_environment.h"

namespace tenon {

namespace {

constexpr uint32_t kOpen = 1u << 31;
// A wake-up costs tens of microseconds: workers stay awake between the steps of a run, and sleep soon after it.
constexpr auto kStayAwake = std::chrono::microseconds(100);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

int ThreadPool::default_workers() { return std::max(0, static_cast<int>(cpu_info().quota) - 1); }

ThreadPool::ThreadPool(int workers) {
  threads_.reserve(static_cast<size_t>(std::max(0, workers)));
  try {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { worker_loop(); });
  } catch (const std::system_error&) {
    // The system gives no more threads; loops take those there are.
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Job::work() {
  try {
    for (int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < chunks;
         i = next.fetch_add(1, std::memory_order_relaxed))
      body(i);
  } catch (...) {
    next.store(chunks, std::memory_order_relaxed);
    if (!failed.exchange(true, std::memory_order_relaxed)) failure = std::current_exception();
  }
}

void ThreadPool::parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body, int max_helpers) {
  if (chunks <= 0) return;
  const bool alone = chunks == 1 || max_helpers <= 0 || threads_.empty();
  if (alone || busy_.exchange(true, std::memory_order_acquire)) {
    for (int64_t i = 0; i < chunks; ++i) body(i);
    return;
  }
  Job job{body, chunks, static_cast<uint32_t>(std::min<int64_t>(max_helpers, chunks - 1))};
  job_ = &job;
  gate_.store(kOpen, std::memory_order_release);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  job.work();
  // Nobody enters any more; a worker that is inside finishes its chunk.
  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int spins = 0; gate_.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins < 20000)
      pause();
    else
      std::this_thread::yield();
  }
  busy_.store(false, std::memory_order_release);
  if (job.failure) std::rethrow_exception(std::move(job.failure));
}

bool ThreadPool::enter() {
  uint32_t gate = gate_.load(std::memory_order_acquire);
  while ((gate & kOpen) != 0) {
    // Once inside, the job cannot go away, so its limit is read after entering.
    if (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) continue;
    if ((gate & ~kOpen) < job_->max_helpers) return true;
    gate_.fetch_sub(1, std::memory_order_release);
    return false;
  }
  return false;
}

uint32_t ThreadPool::wait_for_job(uint32_t seen) {
  const auto start = std::chrono::steady_clock::now();
  for (int spins = 1;; ++spins) {
    const uint32_t now = epoch_.load(std::memory_order_acquire);
    if (now != seen) return now;
    pause();
    if (spins % 64 == 0 && std::chrono::steady_clock::now() - start > kStayAwake) epoch_.wait(seen);
  }
}

void ThreadPool::worker_loop() {
  const DefaultFloatEnvironment environment;
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_job(seen);
    if (stopping_.load()) return;
    if (!enter()) continue;
    job_->work();
    gate_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace tenon
