#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/function_ref.h"
#include "base/status.h"

namespace tenon {

// Regular expressions with the syntax of RE2 and its promise: matching takes time linear in the text, and neither
// pattern nor text can make it use unbounded memory. Text is UTF-8; \d \w \s \b know ASCII, \p all of Unicode.
class Regex {
 public:
  static Result<Regex> compile(std::string_view pattern);

  // Told now and then how many steps a search has taken since it was last told; may throw to end it. A long text times
  // a long pattern is a long time, linear or not.
  using Spend = FunctionRef<void(int64_t steps)>;

  // Whether the whole text matches.
  bool full_match(std::span<const char32_t> text, Spend spend) const;

  // Characters [begin, end) of a text.
  struct Match {
    size_t begin = 0, end = 0;
  };
  // The longest of the leftmost matches that begin at `from` or later; what lies before `from` counts as context.
  std::optional<Match> find(std::span<const char32_t> text, size_t from, Spend spend) const;

  struct Program;

 private:
  explicit Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

}  // namespace tenon
