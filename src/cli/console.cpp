#include "cli/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/text.h"

namespace cli {

namespace {

bool stdout_was_closed = false;

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

void occupy_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    if (descriptor == STDOUT_FILENO) stdout_was_closed = true;
    // The lowest free number is this one, as those below are open.
    if (::open("/dev/null", O_RDWR) < 0) std::abort();
  }
}

Console::Console(const Settings& settings) : settings_(settings), started_(std::chrono::steady_clock::now()) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool colors = !settings.no_color && !(no_color && *no_color);
  color_stdout_ = colors && ::isatty(STDOUT_FILENO);
  color_stderr_ = colors && ::isatty(STDERR_FILENO);
  shows_progress_ = !settings.quiet && ::isatty(STDERR_FILENO);
  const char* delay = std::getenv("TENON_PROGRESS_DELAY");
  shows_from_ = started_ + std::chrono::seconds(delay && *delay ? std::atoi(delay) : 1);
}

void Console::print_document(const Json& document) { output_ += document.dump() + "\n"; }

std::string Console::paint(Color color, std::string_view text, bool enabled) {
  if (!enabled) return std::string(text);
  const int code = color == Color::Red ? 31 : color == Color::Green ? 32 : color == Color::Yellow ? 33 : 1;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void Console::say(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  erase_progress();
  write_all(STDERR_FILENO, std::string(text) + "\n");
}

void Console::detail(std::string_view text) const {
  if (settings_.verbose) say(printable(text));
}
void Console::note(std::string_view text) const {
  if (!settings_.quiet) say(printable(text));
}
void Console::warning(std::string_view text) const {
  if (!settings_.quiet) say(paint(Color::Yellow, "tenon: warning:", color_stderr_) + " " + printable(text));
}
void Console::error(std::string_view text) const {
  say(paint(Color::Red, "tenon:", color_stderr_) + " " + printable(text));
}

void Console::progress(std::string_view text) const {
  if (!shows_progress_) return;
  const std::lock_guard lock(mutex_);
  doing_ = printable(text);
  if (std::chrono::steady_clock::now() >= shows_from_) draw_progress();
  try {
    if (!shower_.joinable()) shower_ = std::jthread([this](const std::stop_token& stop) { show_progress(stop); });
  } catch (const std::system_error&) {
    // The system gives no thread: the line stands still.
  }
}

// A step may take long before the next one is announced, so the seconds go on in a thread of their own.
void Console::show_progress(const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, shows_from_, [] { return false; });
  while (!stop.stop_requested()) {
    draw_progress();
    changed_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
  }
}

void Console::draw_progress() const {
  if (doing_.empty()) return;
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started_);
  write_all(STDERR_FILENO, fmt::format("\r\x1b[K{} ({} s)", doing_, passed.count()));
  progress_visible_ = true;
}

void Console::erase_progress() const {
  if (progress_visible_) write_all(STDERR_FILENO, "\r\x1b[K");
  progress_visible_ = false;
}

void Console::end_progress() const {
  const std::lock_guard lock(mutex_);
  doing_.clear();
  erase_progress();
}

bool Console::finish() {
  end_progress();
  if (output_.empty()) return true;
  if (!stdout_was_closed && write_all(STDOUT_FILENO, output_)) return true;
  error(fmt::format("cannot write to standard output: {}", std::strerror(stdout_was_closed ? EBADF : errno)));
  return false;
}

}  // namespace cli
