// What concerns the whole process: messages, signals, the version of the library.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "tenon/error.hpp"

namespace tenon {
inline namespace v0 {

// What people should know while calls are under way; see tn_set_message_handler. One handler for the process, which
// must not throw.
inline void set_message_handler(std::function<void(const std::string&)> handler) {
  // Never destroyed: threads may still speak while the process ends.
  static auto* current = new std::function<void(const std::string&)>;
  tn_set_message_handler(nullptr, nullptr);
  *current = std::move(handler);
  if (*current)
    tn_set_message_handler(
        [](void* user, const char* message) {
          (*static_cast<std::function<void(const std::string&)>*>(user))(message);
        },
        current);
}
// Whether calls that wait for another process shall stop waiting; see tn_set_wait_question.
inline void set_wait_question(int (*must_stop)(void*), void* user = nullptr) { tn_set_wait_question(must_stop, user); }
// For a program that a signal is about to end; see tn_remove_temporary_files.
inline void remove_temporary_files() { tn_remove_temporary_files(); }
// The same for processes that builds have started; in libtenon only.
inline void end_children() { tn_end_children(); }

inline std::string version() { return tn_version(); }
inline std::string system_json() {
  char* text = nullptr;
  detail::check(tn_system_json(&text));
  return detail::take_text(text);
}

}  // namespace v0
}  // namespace tenon
