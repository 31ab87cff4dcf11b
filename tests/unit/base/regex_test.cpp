#include "base/text/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Regex compiled(std::string_view pattern) {
  auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex.ok()) << regex.status().message();
  return *regex;
}

std::vector<std::string> all_matches(std::string_view pattern, std::string_view text) {
  const Regex regex = compiled(pattern);
  std::vector<std::string> found;
  for (size_t at = 0; at <= text.size();) {
    const auto match = regex.find(text, at);
    if (!match.ok() || !*match) break;
    const auto [begin, end] = **match;
    found.emplace_back(text.substr(begin, end - begin));
    at = end > begin ? end : end + 1;
  }
  return found;
}

TEST(Regex, FindsTheLongestOfTheLeftmostMatches) {
  EXPECT_THAT(all_matches("a|ab|abc", "abcab"), ElementsAre("abc", "ab"));
  EXPECT_THAT(all_matches("(?i)é+", "xÉéx"), ElementsAre("Éé"));
}

TEST(Regex, TextBeforeASearchIsItsContext) {
  const Regex line = compiled("^b"), word = compiled("\\bb");
  EXPECT_FALSE(line.find("ab", 1)->has_value());
  EXPECT_FALSE(word.find("ab", 1)->has_value());
  EXPECT_TRUE(word.find("a b", 1)->has_value());
}

TEST(Regex, MatchesAreWholeCharacters) {
  // Between the two bytes of é there is no word boundary, and no place for a match either.
  const auto match = compiled("\\B").find("aéa", 1);
  ASSERT_TRUE(match.ok());
  EXPECT_FALSE(match->has_value());
  EXPECT_THAT(all_matches("\\C", "é漢"), ElementsAre("é", "漢"));
}

TEST(Regex, BytesThatAreNotTextMatchNothing) {
  const Regex anything = compiled("(?s).*");
  EXPECT_TRUE(*anything.full_match("é\n"));
  EXPECT_FALSE(*anything.full_match("\xff"));
  EXPECT_FALSE(*anything.full_match("a\xc3"));
}

TEST(Regex, ErrorsNameThePattern) {
  const auto wrong = Regex::compile("a(b");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), Code::InvalidModel);
  EXPECT_THAT(wrong.status().message(), HasSubstr("'a(b'"));
  const auto not_text = Regex::compile("\xff");
  EXPECT_EQ(not_text.status().code(), Code::InvalidModel);
}

// Each would take hundreds of megabytes or minutes.
TEST(Regex, PatternsAndTextsHaveLimits) {
  const auto repeated = [](std::string_view part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
  };
  for (const std::string& pattern : {repeated("a", (1 << 16) + 1), repeated("\\pL", 1001), repeated("(a{0,1000})", 251),
                                     std::string("\\pL{500}"), repeated("[^\\pL]", 900)})
    EXPECT_EQ(Regex::compile(pattern).status().code(), Code::ResourceLimit) << pattern.substr(0, 20);
  const Regex large = compiled("(abc|ab|a){0,900}");
  EXPECT_TRUE(*large.full_match(repeated("a", 900)));
  EXPECT_EQ(large.full_match(repeated("a", 10'000'000)).status().code(), Code::ResourceLimit);
  EXPECT_EQ(large.find(repeated("a", 10'000'000), 0).status().code(), Code::ResourceLimit);
}

}  // namespace
}  // namespace tenon
