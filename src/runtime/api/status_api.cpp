#include <cstdlib>
#include <cstring>

#include "runtime/api/handles.h"

using namespace tenon;

namespace tenon::api {

static_assert(static_cast<int>(Code::Internal) == TN_INTERNAL && static_cast<int>(Code::Io) == TN_IO &&
              static_cast<int>(Code::InvalidArgument) == TN_INVALID_ARGUMENT);

tn_status* to_handle(const Status& status) {
  if (status.ok()) return nullptr;
  return new tn_status{static_cast<tn_code>(status.code()), status.to_string()};
}

char* copy_text(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace tenon::api

extern "C" {

const char* tn_version(void) { return TENON_VERSION; }
void tn_string_release(char* text) { std::free(text); }

tn_code tn_status_code(const tn_status* status) { return status ? status->code : TN_OK; }
const char* tn_status_message(const tn_status* status) { return status ? status->message.c_str() : ""; }
void tn_status_release(tn_status* status) { delete status; }
tn_status* tn_status_create(tn_code code, const char* message) {
  return code == TN_OK ? nullptr : new tn_status{code, message ? message : ""};
}

}  // extern "C"
