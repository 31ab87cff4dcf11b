#include "bindings.h"

namespace nb = nanobind;

// tenon.Error becomes _tenon.Error(message, code); the package maps codes to its exception classes.
void bind_errors(nb::module_& m) {
  static PyObject* type = PyErr_NewException("tenon._tenon.Error", PyExc_RuntimeError, nullptr);
  m.attr("Error") = nb::borrow(type);
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const tenon::Error& e) {
      nb::object arguments = nb::make_tuple(nb::str(e.what()), static_cast<int>(e.code()));
      PyErr_SetObject(type, arguments.ptr());
    }
  });
}
