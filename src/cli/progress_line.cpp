#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/standard_streams.h"

namespace cli {

ProgressLine::ProgressLine(bool shows) : shows_(shows), started_(std::chrono::steady_clock::now()) {
  const char* delay = std::getenv("TENON_PROGRESS_DELAY");
  shows_from_ = started_ + std::chrono::seconds(delay && *delay ? std::atoi(delay) : 1);
}

void ProgressLine::show(std::string text) {
  if (!shows_) return;
  const std::lock_guard lock(mutex_);
  doing_ = std::move(text);
  if (std::chrono::steady_clock::now() >= shows_from_) draw();
  try {
    if (!counter_.joinable()) counter_ = std::jthread([this](const std::stop_token& stop) { keep_counting(stop); });
  } catch (const std::system_error&) {
    // The system gives no thread: the line stands still.
  }
}

// A step may take long before the next one is announced, so the seconds go on in a thread of their own.
void ProgressLine::keep_counting(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, shows_from_, [] { return false; });
  while (!stop.stop_requested()) {
    draw();
    changed_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
  }
}

void ProgressLine::write_above(std::string_view line) {
  const std::lock_guard lock(mutex_);
  erase();
  write_all(STDERR_FILENO, std::string(line) + "\n");
}

void ProgressLine::draw() {
  if (doing_.empty()) return;
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started_);
  write_all(STDERR_FILENO, fmt::format("\r\x1b[K{} ({} s)", doing_, passed.count()));
  is_visible_ = true;
}

void ProgressLine::erase() {
  if (is_visible_) write_all(STDERR_FILENO, "\r\x1b[K");
  is_visible_ = false;
}

void ProgressLine::end() {
  const std::lock_guard lock(mutex_);
  doing_.clear();
  erase();
}

}  // namespace cli
