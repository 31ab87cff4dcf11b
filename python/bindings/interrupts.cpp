// Ctrl-C while a model runs: the run ends and the exception of the signal handler is raised.
#include <atomic>

#include "bindings.h"

namespace nb = nanobind;

namespace {

std::atomic<unsigned long> main_thread{0};

// Python handles signals in its main thread only, so other threads need not wait for the interpreter's lock.
int must_stop(void*) {
  if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed)) return 0;
  const WithLock locked;
  return PyErr_CheckSignals();
}

}  // namespace

bool has_signal() { return must_stop(nullptr) != 0; }

void ask_for_signals(tenon::Run& run) { run.ask(&must_stop); }

tenon::Run* plain_run() {
  static tenon::Run* const run = [] {
    auto* made = new tenon::Run();
    ask_for_signals(*made);
    return made;
  }();
  return run;
}

void bind_interrupts(nb::module_& m) {
  tenon::set_wait_question(&must_stop);
  m.def("set_main_thread", [](unsigned long ident) { main_thread.store(ident, std::memory_order_relaxed); });
}
