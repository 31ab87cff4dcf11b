#include "base/text/unicode.h"

#include <utf8proc.h>

#include "base/text/utf8.h"

namespace tenon {

namespace {

// The characters that a character is compared by when case does not matter: the lower-case form, in full.
struct FoldedCharacter {
  utf8proc_int32_t codes[4];  // Unicode has at most three
  utf8proc_ssize_t count;

  explicit FoldedCharacter(char32_t code) {
    int last_boundclass = 0;
    count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), codes, std::size(codes), UTF8PROC_CASEFOLD,
                                    &last_boundclass);
  }
  bool is_several() const { return count > 1 && count <= static_cast<utf8proc_ssize_t>(std::size(codes)); }
};

char32_t simple_upper(utf8proc_int32_t code) { return static_cast<char32_t>(utf8proc_toupper(code)); }

void append_lower(std::string& text, char32_t code) {
  constexpr char32_t kDottedCapitalI = 0x130;
  if (code == kDottedCapitalI) {  // the only one that becomes several
    text += "i\u0307";
    return;
  }
  append_code_point(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
}

// utf8proc has simple mappings only. The characters with a full one are those that fold to several, and its parts are
// the upper-case forms of these. Capitals stay as they are.
void append_upper(std::string& text, char32_t code) {
  const auto number = static_cast<utf8proc_int32_t>(code);
  if (utf8proc_category(number) == UTF8PROC_CATEGORY_LU) return append_code_point(text, code);
  const FoldedCharacter folded(code);
  if (!folded.is_several()) return append_code_point(text, simple_upper(number));
  for (utf8proc_ssize_t i = 0; i < folded.count; ++i) append_code_point(text, simple_upper(folded.codes[i]));
}

std::string map_characters(std::string_view text, void append(std::string&, char32_t)) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const char32_t code = next_code_point(text);
    if (code > kMaxCodePoint)
      append_code_point(result, code);
    else
      append(result, code);
  }
  return result;
}

}  // namespace

bool is_white_space(char32_t code) {
  if ((code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x1F) || code == 0x85) return true;
  if (code > kMaxCodePoint) return false;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

std::string to_lower(std::string_view text) { return map_characters(text, append_lower); }
std::string to_upper(std::string_view text) { return map_characters(text, append_upper); }

}  // namespace tenon
