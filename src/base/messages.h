#pragma once

#include <functional>
#include <string>

namespace tenon {

// What people should know while a call is under way and that is no error: that it waits for another process, that
// something stays which would have been removed. Nobody hears it until a handler is set.
using MessageHandler = std::function<void(const std::string& text)>;

// For the whole process; an empty one ends it. Calls come from any thread, one at a time.
void set_message_handler(MessageHandler handler);
void tell(const std::string& text);

}  // namespace tenon
