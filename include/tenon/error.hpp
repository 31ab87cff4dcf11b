// Errors as exceptions, and what the other headers build their owners from.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
// Keeps the symbols of these classes apart from those inside the library.
inline namespace v0 {

// What went wrong, with the code that says whose problem it is.
class Error : public std::runtime_error {
 public:
  Error(tn_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  tn_code code() const { return code_; }

 private:
  tn_code code_;
};

namespace detail {

template <class Handle, void (*release)(Handle*)>
struct Release {
  void operator()(Handle* handle) const { release(handle); }
};
template <class Handle, void (*release)(Handle*)>
using Owner = std::unique_ptr<Handle, Release<Handle, release>>;

inline void check(tn_status* status) {
  if (!status) return;
  const Owner<tn_status, tn_status_release> owned(status);
  throw Error(tn_status_code(status), tn_status_message(status));
}

inline std::string take_text(char* text) {
  const Owner<char, tn_string_release> owned(text);
  return text;
}

// Text for the C interface, where it ends at the first zero byte: with one inside it would mean something else.
inline const char* c_text(const std::string& text, const char* what) {
  const size_t zero = text.find('\0');
  if (zero == std::string::npos) return text.c_str();
  throw Error(TN_INVALID_ARGUMENT, std::string(what) + " must not hold a zero character, as '" + text.substr(0, zero) +
                                       "\\0" + text.substr(zero + 1) + "' does");
}
inline std::vector<const char*> c_texts(std::span<const std::string> texts, const char* what) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(c_text(text, what));
  return result;
}

}  // namespace detail

}  // namespace v0
}  // namespace tenon
