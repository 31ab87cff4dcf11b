#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tenon/tenon.h"

// Cancels a run that takes too long. One thread serves all runs of the process.
class StopWatch {
 public:
  explicit StopWatch(std::chrono::milliseconds patience) : patience_(patience) {
    std::thread([this] { watch(); }).detach();
  }

  // f(run) with a handle that is cancelled when patience ends.
  template <class F>
  void time(F&& f) {
    tn_run* run = tn_run_create();
    set(run);
    f(run);
    set(nullptr);
    tn_run_release(run);
  }

 private:
  void set(tn_run* run) {
    std::lock_guard lock(mutex_);
    run_ = run;
    ++turn_;
    changed_.notify_one();
  }
  void watch() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto turn = turn_;
      if (!run_)
        changed_.wait(lock, [&] { return turn_ != turn; });
      else if (!changed_.wait_for(lock, patience_, [&] { return turn_ != turn; }))
        tn_run_cancel(run_), run_ = nullptr;
    }
  }

  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  tn_run* run_ = nullptr;
  unsigned turn_ = 0;
};
