#include "base/messages.h"

#include <mutex>

namespace tenon {

namespace {

struct Messages {
  std::mutex mutex;
  MessageHandler handler;
};

// Never destroyed: threads may still speak while the process ends.
Messages& messages() {
  static auto* all = new Messages;
  return *all;
}

}  // namespace

void set_message_handler(MessageHandler handler) {
  const std::lock_guard lock(messages().mutex);
  messages().handler = std::move(handler);
}

void tell(const std::string& text) {
  const std::lock_guard lock(messages().mutex);
  if (messages().handler) messages().handler(text);
}

}  // namespace tenon
