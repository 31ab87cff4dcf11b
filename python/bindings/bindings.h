#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <tenon/tenon.hpp>
#include <vector>

void bind_errors(nanobind::module_& m);
void bind_values(nanobind::module_& m);
void bind_models(nanobind::module_& m);
void bind_sessions(nanobind::module_& m);
void bind_artifacts(nanobind::module_& m);
void bind_builds(nanobind::module_& m);
void bind_interrupts(nanobind::module_& m);
void bind_lock(nanobind::module_& m);

// A model, and views of the files it was given: sessions read them where they are.
struct LoadedModel {
  tenon::Model model;
  std::vector<nanobind::object> files;
};

// What the package gives the native part once, when it is imported: numpy's array type, the dtype of each element type,
// and the conversions that are not worth writing in C++. Held until the process ends.
struct Package {
  PyObject* ndarray = nullptr;
  PyObject* dtypes[TN_FLOAT6E3M2 + 1] = {};  // by tn_dtype; null where an array cannot be made over a tensor's bytes
  PyObject* value_from = nullptr;            // (input name, object, Type) -> Value
  PyObject* object_from = nullptr;           // (Value) -> object
  PyObject* explain_names = nullptr;         // (feed, Session): raises what is wrong with the names of a feed
};
Package& package();

// A numpy array over the tensor's elements; the array keeps `value`, a Python object of class Value, alive.
nanobind::object array_over(nanobind::handle value, const tenon::Value& tensor);

// Names in a model need not be UTF-8; what is not is replaced.
nanobind::str decoded(std::string_view text);

// Makes runs that use this handle look for signals now and then.
void ask_for_signals(tenon::Run& run);
// Whether a signal handler has raised an exception, which is then that of this thread. Without the interpreter's lock;
// false in every thread but Python's main one.
bool has_signal();
// For runs without options of their own. Shared by all threads, never freed.
tenon::Run* plain_run();

// Gives the interpreter's lock back for its lifetime. When the interpreter ends in the meantime, the thread stops here
// for good: Python would end it in a way that C++ code on its stack does not survive.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock();
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

// Takes the interpreter's lock for its lifetime, in a thread that may or may not have it; likewise.
class WithLock {
 public:
  WithLock();
  ~WithLock() { PyGILState_Release(state_); }
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  PyGILState_STATE state_;
};

// Calls f without the interpreter's lock.
template <class F>
auto alone(F&& f) {
  try {
    const WithoutLock unlocked;
    return f();
  } catch (const tenon::Error&) {
    if (PyErr_Occurred()) throw nanobind::python_error();
    throw;
  }
}

// What Tenon reads while the caller of a run holds the array.
class LentArray {
 public:
  LentArray() = default;
  LentArray(const LentArray&) = delete;
  LentArray& operator=(const LentArray&) = delete;
  ~LentArray() {
    if (view_.obj) PyBuffer_Release(&view_);
  }
  // A tensor over the elements of a row-major, aligned numpy array in the machine's byte order and a type that C has.
  // Null when the array is anything else.
  tn_value* lend(nanobind::handle array);

 private:
  Py_buffer view_{};
};
