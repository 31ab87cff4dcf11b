#include <nanobind/stl/map.h>

#include <map>

#include "bindings.h"

namespace nb = nanobind;

namespace {

PyObject* base_class = nullptr;
// Exception class by tn_code; what is not in it is raised as the base class.
PyObject* classes[TN_INTERNAL + 1] = {};

void set_error_classes(const std::map<int, nb::object>& by_code) {
  for (const auto& [code, type] : by_code) {
    if (code < 0 || code > TN_INTERNAL) throw nb::index_error("unknown error code");
    Py_XDECREF(classes[code]);
    classes[code] = nb::object(type).release().ptr();
  }
}

}  // namespace

nb::str decoded(std::string_view text) {
  PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!made) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

// tenon::Error becomes the class the package chose for its code, called with (message, code).
void bind_errors(nb::module_& m) {
  base_class = PyErr_NewException("tenon.Error", PyExc_RuntimeError, nullptr);
  m.attr("Error") = nb::borrow(base_class);
  m.def("set_error_classes", &set_error_classes);
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const tenon::Error& e) {
      PyObject* type = classes[e.code()] ? classes[e.code()] : base_class;
      nb::object arguments = nb::make_tuple(decoded(e.what()), static_cast<int>(e.code()));
      PyErr_SetObject(type, arguments.ptr());
    }
  });
}
