#include "base/waiting.h"

#include <mutex>

namespace tenon {

namespace {

struct ProcessQuestion {
  std::mutex mutex;
  WaitQuestion question;
};

// Never destroyed: threads may still wait while the process ends.
ProcessQuestion& process_question() {
  static auto* question = new ProcessQuestion;
  return *question;
}

thread_local const AskWhileWaiting* innermost = nullptr;

}  // namespace

void set_wait_question(WaitQuestion question) {
  const std::lock_guard lock(process_question().mutex);
  process_question().question = std::move(question);
}

AskWhileWaiting::AskWhileWaiting(WaitQuestion question) : question_(std::move(question)), outer_(innermost) {
  innermost = this;
}
AskWhileWaiting::~AskWhileWaiting() { innermost = outer_; }

bool must_stop_waiting() {
  for (const AskWhileWaiting* asks = innermost; asks; asks = asks->outer_)
    if (asks->question_()) return true;
  WaitQuestion question;
  {
    // Answering may take long, or wait for a thread that sets another question.
    const std::lock_guard lock(process_question().mutex);
    question = process_question().question;
  }
  return question && question();
}

}  // namespace tenon
