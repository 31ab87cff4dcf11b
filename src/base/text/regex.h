#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/status.h"

namespace re2 {
class RE2;
}

namespace tenon {

// Regular expressions of the RE2 library: its syntax and its promise that matching takes time linear in the text. Text
// is UTF-8; \d \w \s \b know ASCII, \p all of Unicode; bytes that are not UTF-8 match nothing. Any number of threads
// may match one Regex.
class Regex {
 public:
  // An error names the pattern. Patterns whose tree or program would take much memory are a ResourceLimit.
  static Result<Regex> compile(std::string_view pattern);

  // Whether the whole text matches. A search cannot be cancelled, so one that might take very long (a long text times
  // a large pattern) is a ResourceLimit.
  Result<bool> full_match(std::string_view text) const;

  // Bytes [begin, end) of a text, whole characters of it.
  struct Match {
    size_t begin = 0, end = 0;
  };
  // The longest of the leftmost matches that begin at `from` or later; the text before `from` counts as context. `from`
  // is the begin of a character or the end of the text. Fails as full_match does.
  Result<std::optional<Match>> find(std::string_view text, size_t from) const;

 private:
  explicit Regex(std::shared_ptr<const re2::RE2> program) : program_(std::move(program)) {}
  Status check_cost(size_t text_bytes) const;

  std::shared_ptr<const re2::RE2> program_;
};

}  // namespace tenon
