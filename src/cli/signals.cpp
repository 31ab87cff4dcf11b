#include "cli/signals.h"

#include <unistd.h>

#include <atomic>
#include <system_error>
#include <thread>

#include "tenon/tenon.hpp"

namespace cli {

namespace {

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<bool> is_ending{false};

// A thread of its own: a signal handler could neither lock nor remove files.
void wait_for_signal(sigset_t signals) {
  int number = 0;
  while (::sigwait(&signals, &number) != 0) {
  }
  is_ending = true;
  for (const int signal : kEndingSignals)
    if (::sigismember(&signals, signal)) (void)std::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  tenon::end_children();
  tenon::remove_temporary_files();
  ::kill(::getpid(), number);
}

}  // namespace

void handle_ending_signals() {
  sigset_t signals, inherited;
  ::sigemptyset(&signals);
  for (const int signal : kEndingSignals) {
    struct sigaction old{};
    ::sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) ::sigaddset(&signals, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, &inherited);
  try {
    std::thread(wait_for_signal, signals).detach();
  } catch (const std::system_error&) {
    // The system gives no thread: signals end the program at once, as if there were nothing to tidy up.
    ::pthread_sigmask(SIG_SETMASK, &inherited, nullptr);
  }
}

void wait_if_ending() {
  while (is_ending) ::pause();
}

}  // namespace cli
