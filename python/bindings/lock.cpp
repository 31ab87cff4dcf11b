// The interpreter's lock at its end. A daemon thread that waits for the lock then is ended by Python through
// pthread_exit, which unwinds C++ frames that must not be unwound and aborts the process. So threads that come out of
// the library after the end has begun wait for the process to end instead.
#include <unistd.h>

#include <atomic>
#include <thread>

#include "bindings.h"

namespace nb = nanobind;

namespace {

// Threads on their way to the lock, and the thread that ends the interpreter, once it does.
std::atomic<int> entering{0};
std::atomic<unsigned long> ending_thread{0};

template <class Take>
auto entered(Take&& take) {
  entering.fetch_add(1);
  const unsigned long ending = ending_thread.load();
  if (ending != 0 && ending != PyThread_get_thread_ident()) {
    entering.fetch_sub(1);
    while (true) pause();
  }
  struct Arrived {
    ~Arrived() { entering.fetch_sub(1); }
  } arrived;
  return take();
}

// Whoever is on the way still gets the lock; nobody sets out after that.
void stop_other_threads() {
  ending_thread.store(PyThread_get_thread_ident());
  const nb::gil_scoped_release unlocked;
  while (entering.load() != 0) std::this_thread::yield();
}

}  // namespace

WithoutLock::~WithoutLock() {
  entered([&] { PyEval_RestoreThread(state_); });
}

// A thread that has the lock already must not stop with it.
WithLock::WithLock() : state_(PyGILState_Check() ? PyGILState_Ensure() : entered([] { return PyGILState_Ensure(); })) {}

void bind_lock(nb::module_& m) {
  m.def("stop_other_threads", &stop_other_threads);
  m.def("forget_other_threads", [] { entering.store(0); });
}
