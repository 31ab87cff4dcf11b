#include "base/text/regex.h"

#include <re2/re2.h>

#include "base/text/utf8.h"

namespace tenon {

namespace {

constexpr size_t kMaxPatternBytes = 1 << 16;
constexpr int kMaxInstructions = 100'000;
// For the program and the states that a search keeps, each.
constexpr int64_t kMaxProgramBytes = 8 << 20;
// RE2 limits its program and its states, but not the tree that it parses first. A few bytes of pattern make a lot of
// tree in these two places: 32 KiB for a \p, 128 KiB for a {n}.
constexpr int kMaxProperties = 1000;
constexpr int kMaxCounts = 250;
// Bytes of text times instructions. A search takes about a nanosecond per byte, but where its states explode it takes
// five for each step: twenty seconds at this limit.
constexpr uint64_t kMaxSteps = uint64_t{1} << 32;

Status check_size_of_pattern(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes)
    return error(Code::ResourceLimit, "the pattern has {} bytes; the limit is {}", pattern.size(), kMaxPatternBytes);
  int properties = 0, counts = 0;
  for (size_t i = 0; i + 1 < pattern.size(); ++i) {
    properties += pattern[i] == '\\' && (pattern[i + 1] == 'p' || pattern[i + 1] == 'P');
    counts += pattern[i] == '{' && pattern[i + 1] >= '0' && pattern[i + 1] <= '9';
  }
  if (properties > kMaxProperties)
    return error(Code::ResourceLimit, "the pattern has {} character properties (\\p); the limit is {}", properties,
                 kMaxProperties);
  if (counts > kMaxCounts)
    return error(Code::ResourceLimit, "the pattern has {} counted repetitions ({{n}}); the limit is {}", counts,
                 kMaxCounts);
  return {};
}

// For messages: a long pattern is cut, between two characters.
std::string shown_pattern(std::string_view pattern) {
  constexpr size_t kMostShown = 100;
  if (pattern.size() <= kMostShown) return std::string(pattern);
  return fmt::format("{}...", pattern.substr(0, character_boundary_before(pattern, kMostShown)));
}

}  // namespace

Result<Regex> Regex::compile(std::string_view pattern) {
  TN_RETURN_IF_ERROR(check_size_of_pattern(pattern));
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(true);
  options.set_max_mem(kMaxProgramBytes);
  auto program = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (program->error_code() == re2::RE2::ErrorPatternTooLarge ||
      (program->ok() && program->ProgramSize() > kMaxInstructions))
    return error(Code::ResourceLimit, "the pattern '{}' needs more than {} instructions", shown_pattern(pattern),
                 kMaxInstructions);
  if (!program->ok())
    return invalid_model("the pattern '{}' is not a regular expression of RE2: {}", shown_pattern(pattern),
                         shown_pattern(program->error()));
  return Regex(std::move(program));
}

Status Regex::check_cost(size_t text_bytes) const {
  const auto instructions = static_cast<uint64_t>(program_->ProgramSize());
  if (text_bytes <= kMaxSteps / instructions) return {};
  return error(Code::ResourceLimit,
               "matching a text of {} bytes with the pattern '{}', which has {} instructions, might take too long; cut "
               "the text or simplify the pattern",
               text_bytes, shown_pattern(program_->pattern()), instructions);
}

Result<bool> Regex::full_match(std::string_view text) const {
  TN_RETURN_IF_ERROR(check_cost(text.size()));
  return program_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0);
}

Result<std::optional<Regex::Match>> Regex::find(std::string_view text, size_t from) const {
  TN_RETURN_IF_ERROR(check_cost(text.size() - from));
  re2::StringPiece found;
  while (program_->Match({text.data(), text.size()}, from, text.size(), re2::RE2::UNANCHORED, &found, 1)) {
    const auto begin = static_cast<size_t>(found.data() - text.data());
    // RE2 searches bytes: \B is found inside of characters too, and \C is a part of one.
    from = character_boundary_after(text, begin);
    if (from == begin) return std::optional(Match{begin, character_boundary_after(text, begin + found.size())});
  }
  return std::optional<Match>();
}

}  // namespace tenon
