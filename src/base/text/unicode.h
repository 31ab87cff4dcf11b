#pragma once

#include <string>
#include <string_view>

// What Unicode says about characters, the same on every machine whatever its locale. The tables are those of utf8proc.
namespace tenon {

// White space as Python's str.split() has it: separators (category Z) and some control characters.
bool is_white_space(char32_t code);

// UTF-8 text with the full case mapping of every character, which may change its length ("ß" becomes "SS"), without
// regard to its neighbours or a language. Bytes that are not UTF-8 stay as they are.
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

}  // namespace tenon
