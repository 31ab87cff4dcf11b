#include "base/text/unicode.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/text/utf8.h"

namespace tenon {

namespace {

using enum Category;

// first, first + stride, ..., last map to themselves plus delta.
struct CaseRun {
  char32_t first, last;
  uint8_t stride;
  int32_t delta;
};
struct SpecialCase {
  char32_t code;
  char32_t mapped[3];  // zero-filled
};
struct CategoryRun {
  char32_t first;
  Category category;
};

#include "base/text/unicode_tables.inc"

constexpr std::string_view kCategoryNames[] = {"Cc", "Cf", "Cn", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu",
                                               "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "Pd", "Pe", "Pf",
                                               "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"};

char32_t map_simple(std::span<const CaseRun> runs, char32_t code) {
  auto it = std::ranges::upper_bound(runs, code, {}, &CaseRun::first);
  if (it == runs.begin()) return code;
  const CaseRun& run = *std::prev(it);
  if (code > run.last || (code - run.first) % run.stride != 0) return code;
  return static_cast<char32_t>(static_cast<int32_t>(code) + run.delta);
}

std::string map_text(std::string_view text, std::span<const CaseRun> runs, std::span<const SpecialCase> special) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const char32_t code = next_code_point(text);
    auto it = std::ranges::lower_bound(special, code, {}, &SpecialCase::code);
    if (it == special.end() || it->code != code) {
      append_code_point(result, map_simple(runs, code));
      continue;
    }
    for (char32_t mapped : it->mapped)
      if (mapped != 0) append_code_point(result, mapped);
  }
  return result;
}

}  // namespace

Category category_of(char32_t code) {
  if (code > kMaxCodePoint) return Cn;
  return std::prev(std::ranges::upper_bound(kCategoryRuns, code, {}, &CategoryRun::first))->category;
}

bool category_matches(Category category, std::string_view name) {
  return kCategoryNames[static_cast<size_t>(category)].starts_with(name);
}

bool is_category_name(std::string_view name) {
  return !name.empty() && std::ranges::any_of(kCategoryNames, [&](auto known) { return known.starts_with(name); });
}

char32_t simple_lower(char32_t code) { return map_simple(kLowerRuns, code); }
char32_t simple_upper(char32_t code) { return map_simple(kUpperRuns, code); }

std::string to_lower(std::string_view text) { return map_text(text, kLowerRuns, kLowerSpecial); }
std::string to_upper(std::string_view text) { return map_text(text, kUpperRuns, kUpperSpecial); }

}  // namespace tenon
