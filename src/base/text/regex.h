#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"

namespace tenon {

// Regular expressions with the syntax of RE2 and its promise: matching takes time linear in the text, and neither
// pattern nor text can make it use unbounded memory. Text is UTF-8; \d \w \s \b know ASCII, \p all of Unicode.
class Regex {
 public:
  static Result<Regex> compile(std::string_view pattern);

  // Whether the whole text matches.
  bool full_match(std::string_view text) const;

  // Characters [begin, end) of a text.
  struct Match {
    size_t begin = 0, end = 0;
  };
  // The longest of the leftmost matches that begin at `from` or later; what lies before `from` counts as context.
  std::optional<Match> find(std::span<const char32_t> text, size_t from) const;

  struct Program;

 private:
  explicit Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace tenon
