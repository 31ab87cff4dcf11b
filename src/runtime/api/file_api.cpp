// Files as such, and what the process says and leaves behind.
#include "base/file.h"
#include "base/file_kind.h"
#include "base/messages.h"
#include "base/temporaries.h"
#include "base/waiting.h"
#include "runtime/api/handles.h"

using namespace tenon;

extern "C" {

void tn_set_message_handler(void (*handler)(void* user, const char* message), void* user) {
  if (!handler) return set_message_handler({});
  set_message_handler([handler, user](const std::string& text) { handler(user, text.c_str()); });
}

void tn_set_wait_question(int (*must_stop)(void* user), void* user) {
  if (!must_stop) return set_wait_question({});
  set_wait_question([must_stop, user] { return must_stop(user) != 0; });
}

void tn_remove_temporary_files(void) { remove_temporaries(); }

tn_status* tn_file_check_replaceable(const char* path) {
  return api::guarded([&]() -> Status {
    if (!path) return invalid_argument("path must not be NULL");
    return check_replaceable(path);
  });
}

tn_status* tn_file_write(const char* path, const void* data, size_t size) {
  return api::guarded([&]() -> Status {
    if (!path || (!data && size > 0)) return invalid_argument("path and data must not be NULL");
    const std::string_view pieces[] = {{static_cast<const char*>(data), size}};
    return write_file_atomically(path, pieces);
  });
}

tn_status* tn_file_read(const char* path, size_t max_bytes, char** text, size_t* size) {
  return api::guarded([&]() -> Status {
    if (!path || !text) return invalid_argument("path and text must not be NULL");
    TN_ASSIGN_OR_RETURN(const FileHandle file, open_for_reading(path));
    TN_ASSIGN_OR_RETURN(const int64_t bytes, regular_file_size(file, path));
    if (static_cast<uint64_t>(bytes) > max_bytes)
      return error(Code::ResourceLimit, "'{}' has {} bytes; the limit is {}", path, bytes, max_bytes);
    TN_ASSIGN_OR_RETURN(const auto content, read_region(file, 0, bytes, path));
    *text = api::copy_text({reinterpret_cast<const char*>(content->data()), static_cast<size_t>(bytes)});
    if (size) *size = static_cast<size_t>(bytes);
    return {};
  });
}

}  // extern "C"
