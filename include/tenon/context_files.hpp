// The files of compiled models, by path: what they are, and folders that an interrupted program left.
#pragma once

#include <string>

#include "tenon/error.hpp"

namespace tenon {
inline namespace v0 {

// Whether a file is a compiled model, Tenon's or another program's.
inline bool is_context_file(const std::string& path) {
  int is_context = 0;
  detail::check(tn_is_context_file(detail::c_text(path, "the path of a model"), &is_context));
  return is_context != 0;
}
inline std::string describe_context_file(const std::string& path) {
  char* text = nullptr;
  detail::check(tn_context_file_describe(detail::c_text(path, "the path of a model"), &text));
  return detail::take_text(text);
}
// Gives the rest of a half-published group its names.
inline void complete_folder(const std::string& folder) {
  detail::check(tn_folder_complete(detail::c_text(folder, "the path of a folder")));
}
inline void note_validation(const std::string& path, const std::string& verdict) {
  detail::check(tn_context_file_note_validation(detail::c_text(path, "the path of a model"),
                                                detail::c_text(verdict, "a verdict")));
}
// Removes what interrupted publications left.
inline void tidy_folder(const std::string& folder, const std::string& weights_name) {
  detail::check(tn_folder_tidy(detail::c_text(folder, "the path of a folder"),
                               detail::c_text(weights_name, "the name of a weights file")));
}

}  // namespace v0
}  // namespace tenon
