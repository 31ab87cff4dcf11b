// Character sets, and the ones that have names.
#include "base/text/regex_set.h"

#include <algorithm>

#include "base/text/unicode.h"

namespace tenon::regex {

bool CharacterSet::lists(char32_t code) const {
  for (const Range& r : ranges)
    if (code >= r.first && code <= r.last) return true;
  for (const CategoryTest& test : categories)
    if ((test.name == "Any" || category_matches(category_of(code), test.name)) != test.negated) return true;
  return std::ranges::any_of(nested, [&](const CharacterSet& s) { return s.contains(code); });
}

bool CharacterSet::contains(char32_t code) const {
  // Bytes that are no character are in no set, not even in a negated one.
  if (code > 0x10FFFF) return false;
  bool found = lists(code);
  if (!found && fold_case) {
    const char32_t lower = simple_lower(code), upper = simple_upper(code);
    found = lists(lower) || lists(upper) || lists(simple_lower(upper)) || lists(simple_upper(lower));
  }
  return found != negated;
}

namespace {

struct NamedSet {
  std::string_view name;
  std::vector<CharacterSet::Range> ranges;
};

const std::vector<NamedSet>& posix_sets() {
  static const std::vector<NamedSet> sets = {
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 127}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 31}, {127, 127}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  };
  return sets;
}

}  // namespace

std::optional<CharacterSet> posix_set(std::string_view name) {
  const bool negated = name.starts_with('^');
  if (negated) name.remove_prefix(1);
  for (const NamedSet& known : posix_sets()) {
    if (known.name != name) continue;
    CharacterSet set;
    set.ranges = known.ranges;
    set.negated = negated;
    return set;
  }
  return std::nullopt;
}

std::optional<CharacterSet> escaped_set(char32_t letter) {
  CharacterSet set;
  switch (letter) {
    case 'd':
    case 'D':
      set.ranges = {{'0', '9'}};
      break;
    case 's':
    case 'S':
      set.ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
      break;
    case 'w':
    case 'W':
      set.ranges = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}};
      break;
    default:
      return std::nullopt;
  }
  set.negated = letter == 'D' || letter == 'S' || letter == 'W';
  return set;
}

CharacterSet single(char32_t code) {
  CharacterSet set;
  set.ranges = {{code, code}};
  return set;
}

CharacterSet everything_but_newline() {
  CharacterSet set = single('\n');
  set.negated = true;
  return set;
}

CharacterSet everything() {
  CharacterSet set;
  set.ranges = {{0, 0x10FFFF}};
  return set;
}

}  // namespace tenon::regex
