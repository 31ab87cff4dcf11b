#pragma once

#include <functional>

namespace tenon {

// Asked again and again, on the thread that waits, while a call waits for another process; true ends the wait.
using WaitQuestion = std::function<bool()>;

// For the whole process; an empty one ends it.
void set_wait_question(WaitQuestion question);

// Asks a question of its own on this thread, too, as long as it lives.
class AskWhileWaiting {
 public:
  explicit AskWhileWaiting(WaitQuestion question);
  ~AskWhileWaiting();
  AskWhileWaiting(const AskWhileWaiting&) = delete;
  AskWhileWaiting& operator=(const AskWhileWaiting&) = delete;

 private:
  friend bool must_stop_waiting();
  WaitQuestion question_;
  const AskWhileWaiting* outer_;
};

bool must_stop_waiting();

}  // namespace tenon
