#pragma once

// The inside of Regex: what the parser makes and the compiler reads.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tenon::regex {

// A set of characters: ranges and Unicode categories.
struct CharacterSet {
  struct Range {
    char32_t first, last;
  };
  struct CategoryTest {
    std::string name;
    bool negated = false;
  };
  std::vector<Range> ranges;
  std::vector<CategoryTest> categories;
  std::vector<CharacterSet> nested;  // sets inside a set, such as \D or [:^alpha:]
  bool negated = false;
  bool fold_case = false;

  bool contains(char32_t code) const;

 private:
  bool lists(char32_t code) const;
};

enum class Assertion : uint8_t { TextBegin, TextEnd, LineBegin, LineEnd, WordBoundary, NoWordBoundary };

struct Node {
  enum class Kind : uint8_t { Empty, Set, Assert, Sequence, Choice, Repeat };
  Kind kind = Kind::Empty;
  CharacterSet set;
  Assertion assertion{};
  std::vector<std::unique_ptr<Node>> children;
  int least = 0, most = 0;  // Repeat; most < 0: unbounded
};

inline constexpr int kMaxRepeat = 1000;
inline constexpr int kMaxNesting = 200;
inline constexpr size_t kMaxPatternBytes = 1 << 16;

Result<std::unique_ptr<Node>> parse(std::string_view pattern);

}  // namespace tenon::regex
