// Reading and replacing files as Tenon itself does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/error.hpp"

namespace tenon {
inline namespace v0 {

// Throws, naming the kind, unless nothing or a regular file has this path.
inline void check_replaceable(const std::string& path) {
  detail::check(tn_file_check_replaceable(detail::c_text(path, "the path of a file")));
}
// Puts a file in place with one rename, or leaves everything as it was.
inline void write_file(const std::string& path, std::string_view content) {
  detail::check(tn_file_write(detail::c_text(path, "the path of a file"), content.data(), content.size()));
}
// The first of these inputs, or of the files they refer to, that writing `output` would replace; "" when none is. In
// libtenon only.
inline std::string replaced_input(const std::string& output, std::span<const std::string> inputs) {
  const std::vector<const char*> texts = detail::c_texts(inputs, "the path of a file");
  char* input = nullptr;
  detail::check(
      tn_file_replaced_input(detail::c_text(output, "the path of a file"), texts.data(), texts.size(), &input));
  return detail::take_text(input);
}
inline std::string read_file(const std::string& path, size_t max_bytes) {
  char* text = nullptr;
  size_t size = 0;
  detail::check(tn_file_read(detail::c_text(path, "the path of a file"), max_bytes, &text, &size));
  const detail::Owner<char, tn_string_release> owned(text);
  return {text, size};
}

}  // namespace v0
}  // namespace tenon
