#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace cli {

// What is being done now: one line of stderr that replaces itself, from the first second of the command on (or the
// number of seconds in TENON_PROGRESS_DELAY) and for as long as it takes. Thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(bool shows);

  void show(std::string text);
  void end();
  // A line of text for stderr, above.
  void write_above(std::string_view line);

 private:
  void keep_counting(const std::stop_token& stop);
  void draw();
  void erase();

  const bool shows_;
  std::chrono::steady_clock::time_point started_, shows_from_;
  // Below: what the thread that counts the seconds shares, under the mutex.
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string doing_;  // "" when nothing is to be shown
  bool is_visible_ = false;
  std::jthread counter_;
};

}  // namespace cli
