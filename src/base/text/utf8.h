#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

inline constexpr char32_t kMaxCodePoint = 0x10FFFF;
// Bytes that are not UTF-8 decode to values above every code point, and encode to the same bytes again.
inline constexpr char32_t kInvalidByte = 0x110000;

// The next code point of a text that is not empty, which is taken off its front.
inline char32_t next_code_point(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  char32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
  bool valid = length != 0 && length <= text.size();
  for (size_t i = 1; valid && i < length; ++i) {
    valid = byte(i) >> 6 == 2;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  valid = valid && code >= least[length] && code <= kMaxCodePoint && (code < 0xD800 || code > 0xDFFF);
  if (!valid) code = kInvalidByte + lead;
  text.remove_prefix(valid ? length : 1);
  return code;
}

inline void append_code_point(std::string& text, char32_t code) {
  auto put = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code >= kInvalidByte) {
    put(code - kInvalidByte);
  } else if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty())
    if (next_code_point(text) > kMaxCodePoint) return false;
  return true;
}

// In UTF-8 text, the first begin of a character (or the end of the text) from `at` on, or the last one up to `at`.
inline bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80; }
inline size_t character_boundary_after(std::string_view text, size_t at) {
  while (at < text.size() && continues_character(text[at])) ++at;
  return at;
}
inline size_t character_boundary_before(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && continues_character(text[at])) --at;
  return at;
}
inline size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += !continues_character(byte);
  return count;
}

}  // namespace tenon
