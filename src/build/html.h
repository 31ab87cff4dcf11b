#pragma once

#include <string>

namespace tenon::build {

// The start of a page that needs nothing else, up to its body. `style`: more rules.
std::string html_head(const std::string& title, const std::string& style = "");
// Text as a page shows it, control characters made visible.
std::string escaped(const std::string& text);
// Of a table. `kind`: its class.
std::string cell(const std::string& text, const char* kind = "");
// A table that may be wider than the page, from the cells of its head and its rows.
std::string html_table(const std::string& head, const std::string& rows);

}  // namespace tenon::build
