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

// Of the loop that this thread is at; -1: none.
thread_local int place = -1;

// For the time of a loop.
class Place {
 public:
  explicit Place(int at) : outer_(place) { place = at; }
  ~Place() { place = outer_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  int outer_;
};

}  // namespace

int ThreadPool::default_workers() { return std::max(0, static_cast<int>(cpu_info().quota) - 1); }
int ThreadPool::place_in_loop() { return std::max(0, place); }

ThreadPool::ThreadPool(int workers) {
  threads_.reserve(static_cast<size_t>(std::max(0, workers)));
  try {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this, i] { worker_loop(static_cast<size_t>(i)); });
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

ThreadPool::Job::Job(FunctionRef<void(int64_t)> given, int64_t count, int64_t helpers_at_most)
    : body(given), chunks(count), max_helpers(static_cast<uint32_t>(helpers_at_most)),
      share_count(std::min(static_cast<size_t>(helpers_at_most) + 1, kMostShares)),
      flushes_subnormals(tenon::flushes_subnormals()) {
  const auto parts = static_cast<int64_t>(share_count);
  int64_t begin = 0;
  for (int64_t i = 0; i < parts; ++i) {
    Share& share = shares[static_cast<size_t>(i)];
    share.next.store(begin, std::memory_order_relaxed);
    begin = share.end = begin + (chunks - begin) / (parts - i);
  }
}

bool ThreadPool::Job::is_claimed() const {
  return std::all_of(shares.begin(), shares.begin() + static_cast<ptrdiff_t>(share_count),
                     [](const Share& s) { return s.next.load(std::memory_order_relaxed) >= s.end; });
}

void ThreadPool::Job::work(size_t first_share) {
  try {
    for (size_t i = 0; i < share_count; ++i) {
      Share& share = shares[(first_share + i) % share_count];
      while (share.next.load(std::memory_order_relaxed) < share.end) {
        const int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
        if (chunk < share.end) body(chunk);
      }
    }
  } catch (...) {
    for (Share& share : shares) share.next.store(chunks, std::memory_order_relaxed);
    if (!failed.exchange(true, std::memory_order_relaxed)) failure = std::current_exception();
  }
}

ThreadPool::Desk* ThreadPool::take_desk() {
  for (Desk& desk : desks_)
    if (!desk.taken.load(std::memory_order_relaxed) && !desk.taken.exchange(true, std::memory_order_acquire))
      return &desk;
  return nullptr;
}

void ThreadPool::parallel_for(int64_t chunks, FunctionRef<void(int64_t)> body, int max_helpers) {
  if (chunks <= 0) return;
  const bool alone = chunks == 1 || max_helpers <= 0 || threads_.empty() || place >= 0;
  Desk* const desk = alone ? nullptr : take_desk();
  if (!desk) {
    for (int64_t i = 0; i < chunks; ++i) body(i);
    return;
  }
  const Place caller(0);
  Job job(body, chunks, std::min<int64_t>({max_helpers, workers(), chunks - 1}));
  desk->job = &job;
  desk->gate.store(kOpen, std::memory_order_release);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  job.work(0);
  // Nobody enters any more; a worker that is inside finishes its chunk.
  desk->gate.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int spins = 0; desk->gate.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins < 20000)
      pause();
    else
      std::this_thread::yield();
  }
  desk->taken.store(false, std::memory_order_release);
  if (job.failure) std::rethrow_exception(std::move(job.failure));
}

bool ThreadPool::Desk::enter() {
  uint32_t seen = gate.load(std::memory_order_acquire);
  while ((seen & kOpen) != 0) {
    // Once inside, the job cannot go away, so its limit is read after entering.
    if (!gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) continue;
    if ((seen & ~kOpen) < job->max_helpers && !job->is_claimed()) return true;
    gate.fetch_sub(1, std::memory_order_release);
    return false;
  }
  return false;
}

bool ThreadPool::help_somebody(size_t worker, size_t first_desk) {
  for (size_t i = 0; i < kDesks; ++i) {
    Desk& desk = desks_[(first_desk + i) % kDesks];
    if (!desk.enter()) continue;
    {
      // Helpers leave when no chunk is left, so that those who find one have different places within the limit.
      SubnormalScope subnormals;
      subnormals.flush(desk.job->flushes_subnormals);
      const Place helper(desk.job->helpers.fetch_add(1, std::memory_order_relaxed) + 1);
      desk.job->work(worker + 1);
    }
    desk.gate.fetch_sub(1, std::memory_order_release);
    return true;
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

void ThreadPool::worker_loop(size_t index) {
  const DefaultFloatEnvironment environment;
  uint32_t seen = 0;
  // Each begins its round elsewhere, so that callers at the same time get about equally many.
  size_t first_desk = index;
  while (true) {
    seen = wait_for_job(seen);
    if (stopping_.load()) return;
    while (help_somebody(index, first_desk)) first_desk = (first_desk + 1) % kDesks;
  }
}

}  // namespace tenon
