#include "base/text/unicode.h"

#include <gtest/gtest.h>

#include "base/text/utf8.h"

namespace tenon {
namespace {

TEST(CaseMapping, IsThatOfUnicodeInFull) {
  struct Example {
    std::string_view text, lower, upper;
  };
  for (const Example& example : {
           Example{"Straße", "straße", "STRASSE"},
           {"ẞ", "ß", "ẞ"},
           {"ﬃ", "ﬃ", "FFI"},
           {"\u0130", "i\u0307", "\u0130"},
           {"ı", "ı", "I"},
           {"\u0390", "\u0390", "\u0399\u0308\u0301"},
           {"ᾈ", "ᾀ", "ἈΙ"},
           {"ᾳ", "ᾳ", "ΑΙ"},
           {"ŉ", "ŉ", "ʼN"},
           {"ǅ", "ǆ", "Ǆ"},
           {"𐐀𐐨", "𐐨𐐨", "𐐀𐐀"},
           {"漢字 1", "漢字 1", "漢字 1"},
           {"a\xff\xc3", "a\xff\xc3", "A\xff\xc3"},
       }) {
    EXPECT_EQ(to_lower(example.text), example.lower) << example.text;
    EXPECT_EQ(to_upper(example.text), example.upper) << example.text;
  }
}

TEST(WhiteSpace, IsSeparatorsAndControlCharacters) {
  for (const char32_t code :
       {U'\t', U'\n', U'\r', U' ', U'\x1C', U'\x1F', U'\x85', U'\xA0', U'\x2028', U'\x2029', U'\x3000'})
    EXPECT_TRUE(is_white_space(code)) << static_cast<uint32_t>(code);
  for (const char32_t code :
       {U'\0', U'\x08', U'\x1B', U'a', U'\x200B', U'\xFEFF', static_cast<char32_t>(kInvalidByte + 0x20)})
    EXPECT_FALSE(is_white_space(code)) << static_cast<uint32_t>(code);
}

TEST(Utf8, BoundariesOfCharacters) {
  const std::string_view text = "aé漢";
  EXPECT_EQ(character_boundary_after(text, 1), 1u);
  EXPECT_EQ(character_boundary_after(text, 2), 3u);
  EXPECT_EQ(character_boundary_before(text, 5), 3u);
  EXPECT_EQ(character_boundary_before(text, 6), 6u);
  EXPECT_EQ(count_characters(text), 3u);
  EXPECT_TRUE(is_utf8(text));
  EXPECT_FALSE(is_utf8(text.substr(0, 2)));
}

}  // namespace
}  // namespace tenon
