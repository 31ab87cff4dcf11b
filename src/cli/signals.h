#pragma once

#include <csignal>

namespace cli {

// From now on SIGINT, SIGTERM and SIGHUP end the program in order: first its children, then what it has staged, then
// itself by the same signal, so that a shell sees what happened. A second one ends it at once. Whoever started the
// program with one of them ignored keeps it so. Call in main before anything makes a thread.
void handle_ending_signals();

// Returns at once, unless a signal is ending the program: then its end is waited for, and the caller says nothing more.
void wait_if_ending();

}  // namespace cli
