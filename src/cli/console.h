#pragma once

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/json.h"

namespace cli {

// Flags that every command has.
struct Settings {
  std::string format = "text";
  bool verbose = false;
  bool quiet = false;
  bool no_color = false;
  int64_t threads = -1;  // -1: not given
};

enum class Color { Red, Green, Yellow, Bold };

// Results go to stdout, everything else to stderr.
class Console {
 public:
  explicit Console(const Settings& settings);

  const Settings& settings() const { return settings_; }
  bool is_json() const { return settings_.format == "json"; }

  // One JSON document, or text for people. Kept until finish(), so that a failure leaves stdout empty.
  void print(std::string_view text) { output_ += text; }
  void print_document(const Json& document);
  void discard() { output_.clear(); }
  // Colored text for stdout, if stdout shows colors.
  std::string paint(Color color, std::string_view text) const { return paint(color, text, color_stdout_); }

  // With -v only; unless -q; always.
  void detail(std::string_view text) const;
  void note(std::string_view text) const;
  void warning(std::string_view text) const;
  void error(std::string_view text) const;
  // What is being done now: one line that replaces itself, on a terminal, from the first second of the command on
  // (or the number of seconds in TENON_PROGRESS_DELAY) and for as long as it takes. From any thread.
  void progress(std::string_view text) const;
  void end_progress() const;

  // Writes what was printed; false, with a message on stderr, when stdout does not take it.
  bool finish();

 private:
  static std::string paint(Color color, std::string_view text, bool enabled);
  void say(std::string_view text) const;
  void show_progress(const std::stop_token& stop) const;
  void draw_progress() const;
  void erase_progress() const;

  Settings settings_;
  bool color_stdout_ = false, color_stderr_ = false, shows_progress_ = false;
  std::chrono::steady_clock::time_point started_, shows_from_;
  std::string output_;
  // Below: what the thread that shows progress shares, under the mutex.
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::string doing_;  // "" when nothing is to be shown
  mutable bool progress_visible_ = false;
  mutable std::jthread shower_;
};

// Opens /dev/null in the place of closed standard streams, so that no file gets their numbers. Call first in main.
void occupy_standard_streams();

}  // namespace cli
