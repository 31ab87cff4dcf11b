// numpy arrays over Tenon's memory and tensors over numpy's, without the headers of numpy.
#include <cstring>

#include "bindings.h"

namespace nb = nanobind;
using tenon::Value;

Package& package() {
  static Package instance;
  return instance;
}

nb::object array_over(nb::handle value, const Value& tensor) {
  const size_t rank = tn_tensor_rank(tensor.get());
  const int64_t* dims = tn_tensor_dims(tensor.get());
  nb::object shape = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(rank)));
  for (size_t i = 0; i < rank; ++i)
    PyTuple_SET_ITEM(shape.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(dims[i]));
  // ndarray(shape, dtype, buffer) takes the bytes as they are; nothing is parsed or copied.
  PyObject* arguments[] = {shape.ptr(), package().dtypes[tensor.dtype()], value.ptr()};
  PyObject* array = PyObject_Vectorcall(package().ndarray, arguments, 3, nullptr);
  if (!array) throw nb::python_error();
  return nb::steal(array);
}

namespace {

// The element type of a buffer's format; undefined for structures, other byte orders, strings and objects.
tn_dtype dtype_of(const char* format, Py_ssize_t size) {
  if (!format) return TN_UINT8;
  const bool is_complex = *format == 'Z';
  if (is_complex) ++format;
  if (!format[0] || format[1]) return TN_UNDEFINED;
  if (is_complex) return *format == 'f' ? TN_COMPLEX64 : *format == 'd' ? TN_COMPLEX128 : TN_UNDEFINED;
  switch (*format) {
    case 'f':
      return TN_FLOAT32;
    case 'd':
      return TN_FLOAT64;
    case 'e':
      return TN_FLOAT16;
    case '?':
      return TN_BOOL;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return size == 8 ? TN_INT64 : size == 4 ? TN_INT32 : size == 2 ? TN_INT16 : TN_INT8;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return size == 8 ? TN_UINT64 : size == 4 ? TN_UINT32 : size == 2 ? TN_UINT16 : TN_UINT8;
    default:
      return TN_UNDEFINED;
  }
}

}  // namespace

tn_value* LentArray::lend(nb::handle array) {
  if (!PyObject_TypeCheck(array.ptr(), reinterpret_cast<PyTypeObject*>(package().ndarray))) return nullptr;
  if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    view_ = {};
    return nullptr;
  }
  const tn_dtype dtype = dtype_of(view_.format, view_.itemsize);
  const auto alignment = static_cast<uintptr_t>(std::min<Py_ssize_t>(view_.itemsize, 8));
  if (dtype == TN_UNDEFINED || reinterpret_cast<uintptr_t>(view_.buf) % alignment != 0) return nullptr;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  tn_value* value = nullptr;
  tenon::detail::check(tn_tensor_create(dtype, reinterpret_cast<const int64_t*>(view_.shape),
                                        static_cast<size_t>(view_.ndim), view_.buf, static_cast<size_t>(view_.len),
                                        nullptr, nullptr, &value));
  return value;
}
