#pragma once

#include <optional>

#include "base/text/regex_syntax.h"

namespace tenon::regex {

// [:alpha:], [:^alpha:]: by the name between the colons.
std::optional<CharacterSet> posix_set(std::string_view name);
// \d, \W, ...
std::optional<CharacterSet> escaped_set(char32_t letter);
CharacterSet single(char32_t code);
CharacterSet everything_but_newline();
CharacterSet everything();

}  // namespace tenon::regex
