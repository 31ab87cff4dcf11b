#pragma once

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "executor/arena_pool.h"
#include "executor/limits.h"
#include "ops/work.h"
#include "tensor/tensor.h"

namespace tenon {

// Time spent in one step of one run.
struct StepTime {
  std::string name;
  std::string family;
  std::string_view variant;
  int depth = 0;  // of sub-graphs around it
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  Work work{};
  std::vector<int64_t> dims{};  // of the first output, where binding knows them
};

// Asked now and then by the thread that runs; what is not 0 stops the run.
struct StopQuestion {
  int (*ask)(void* user) = nullptr;
  void* user = nullptr;
};

// What all plans of one run share.
struct RunState {
  std::shared_ptr<const std::vector<Tensor>> slots;  // the packed weights, which stay while the run lasts
  uint64_t slots_number = 0;                         // another one for other slots
  std::shared_ptr<MemoryBudget> budget;
  RunArena* arena = nullptr;
  const Limits* limits = nullptr;
  const std::atomic<bool>* cancelled = nullptr;
  StopQuestion stop;
  std::atomic<bool> stopped{false};         // a kernel left off because the run must end
  std::atomic<bool>* not_finite = nullptr;  // set when a kernel that moves weights meets NaN or infinity
  std::chrono::steady_clock::time_point next_question, last_look;  // short runs end before the first
  int unwatched_calls = 0;
  uint64_t seed = 0;
  uint64_t random_draws = 0;   // numbers the random steps of this run
  int64_t iterations = 0;      // of all loops so far
  bool loops_refused = false;  // they would have made more than the limit
  int depth = 0;
  ThreadPool* pool = nullptr;                         // null: the caller's thread alone
  int max_helpers = std::numeric_limits<int>::max();  // of the pool's workers
  std::vector<StepTime>* profile = nullptr;
  int64_t profile_origin_ns = 0;

  // Whether the caller wants the run to end. Asks at most every kQuestionInterval, and where calls follow each other
  // quickly it does not even look at the clock each time.
  bool must_stop() {
    if (cancelled && cancelled->load(std::memory_order_relaxed)) return true;
    if (!stop.ask || unwatched_calls-- > 0) return false;
    const auto now = std::chrono::steady_clock::now();
    unwatched_calls = now - last_look < std::chrono::milliseconds(1) ? 15 : 0;
    last_look = now;
    if (now < next_question) return false;
    next_question = now + kQuestionInterval;
    return stop.ask(stop.user) != 0;
  }
  static constexpr std::chrono::milliseconds kQuestionInterval{50};
};

}  // namespace tenon
