#include "cli/console.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/standard_streams.h"
#include "cli/text.h"

namespace cli {

namespace {

bool wants_colors(const Settings& settings) {
  const char* no_color = std::getenv("NO_COLOR");
  return !settings.no_color && !(no_color && *no_color);
}

}  // namespace

Console::Console(const Settings& settings)
    : settings_(settings), color_stdout_(wants_colors(settings) && ::isatty(STDOUT_FILENO)),
      color_stderr_(wants_colors(settings) && ::isatty(STDERR_FILENO)),
      progress_(!settings.quiet && ::isatty(STDERR_FILENO)) {}

void Console::print_document(const Json& document) { output_ += document.dump() + "\n"; }

std::string Console::paint(Color color, std::string_view text, bool enabled) {
  if (!enabled) return std::string(text);
  const int code = color == Color::Red ? 31 : color == Color::Green ? 32 : color == Color::Yellow ? 33 : 1;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void Console::detail(std::string_view text) const {
  if (settings_.verbose) progress_.write_above(printable(text));
}
void Console::note(std::string_view text) const {
  if (!settings_.quiet) progress_.write_above(printable(text));
}
void Console::warning(std::string_view text) const {
  if (settings_.quiet) return;
  progress_.write_above(paint(Color::Yellow, "tenon: warning:", color_stderr_) + " " + printable(text));
}
void Console::error(std::string_view text) const {
  progress_.write_above(paint(Color::Red, "tenon:", color_stderr_) + " " + printable(text));
}

void Console::progress(std::string_view text) const { progress_.show(printable(text)); }

bool Console::finish() {
  end_progress();
  if (output_.empty()) return true;
  if (!stdout_was_closed() && write_all(STDOUT_FILENO, output_)) return true;
  error(fmt::format("cannot write to standard output: {}", std::strerror(stdout_was_closed() ? EBADF : errno)));
  return false;
}

}  // namespace cli
