#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/json.h"
#include "cli/progress_line.h"
#include "cli/settings.h"

namespace cli {

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
  // What is being done now. From any thread.
  void progress(std::string_view text) const;
  void end_progress() const { progress_.end(); }

  // Writes what was printed; false, with a message on stderr, when stdout does not take it.
  bool finish();

 private:
  static std::string paint(Color color, std::string_view text, bool enabled);

  Settings settings_;
  bool color_stdout_ = false, color_stderr_ = false;
  std::string output_;
  mutable ProgressLine progress_;
};

}  // namespace cli
