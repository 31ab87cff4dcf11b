#include "build/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tenon::build {

void for_each_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& f) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // the first; what nobody has begun by then is left
  const auto work = [&] {
    try {
      for (size_t i; (i = next++) < count;) f(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      for (size_t i = 1; i < std::min(static_cast<size_t>(jobs), count); ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // The system gives no more threads; this one and those there are do the work.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tenon::build
