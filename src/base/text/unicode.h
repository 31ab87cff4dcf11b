#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// What Unicode says about characters, the same on every machine whatever its locale.
namespace tenon {

// General categories, named as Unicode does.
enum class Category : uint8_t {
  Cc,
  Cf,
  Cn,
  Co,
  Cs,
  Ll,
  Lm,
  Lo,
  Lt,
  Lu,
  Mc,
  Me,
  Mn,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Pe,
  Pf,
  Pi,
  Po,
  Ps,
  Sc,
  Sk,
  Sm,
  So,
  Zl,
  Zp,
  Zs,
};

Category category_of(char32_t code);
// Whether the category has this name ("Lu") or belongs to this group ("L").
bool category_matches(Category category, std::string_view name);
bool is_category_name(std::string_view name);

// The one character that a character becomes; itself when it has no such mapping or becomes several.
char32_t simple_lower(char32_t code);
char32_t simple_upper(char32_t code);

// UTF-8 text with every character mapped, which may change its length. Bytes that are not UTF-8 stay as they are.
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

}  // namespace tenon
