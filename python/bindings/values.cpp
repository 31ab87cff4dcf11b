#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "bindings.h"

namespace nb = nanobind;
using tenon::Value;

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Eight elements take as many bytes as one has bits.
int bits_of(int dtype) { return static_cast<int>(tn_dtype_bytes(static_cast<tn_dtype>(dtype), 8)); }

// Where an element of a packed tensor begins.
struct BitPosition {
  BitPosition(int64_t i, int bits)
      : byte(i / 8 * bits + i % 8 * bits / 8), shift(static_cast<int>(i % 8 * bits % 8)), spills(shift + bits > 8) {}
  int64_t byte;
  int shift;
  bool spills;  // into the next byte
};

// Sub-byte arrays come from Python with one element per byte; Tenon packs them.
Value packed_tensor(const AnyArray& array, int dtype, const std::vector<int64_t>& dims) {
  Value value = Value::allocate(static_cast<tn_dtype>(dtype), dims);
  const int bits = bits_of(dtype);
  const auto* source = static_cast<const uint8_t*>(array.data());
  auto* target = static_cast<uint8_t*>(value.raw());
  if (value.bytes()) std::memset(target, 0, static_cast<size_t>(value.bytes()));
  for (int64_t i = 0; i < value.count(); ++i) {
    const BitPosition at(i, bits);
    const int element = source[i] & ((1 << bits) - 1);
    target[at.byte] |= static_cast<uint8_t>(element << at.shift);
    if (at.spills) target[at.byte + 1] |= static_cast<uint8_t>(element >> (8 - at.shift));
  }
  return value;
}

// The elements of a sub-byte tensor, one per byte, signed types sign-extended: a tensor of bytes.
Value unpacked_tensor(const Value& packed) {
  const int dtype = packed.dtype();
  Value bytes = Value::allocate(TN_UINT8, packed.dims());
  const int bits = bits_of(dtype);
  const bool is_signed = dtype == TN_INT4 || dtype == TN_INT2;
  const auto* source = static_cast<const uint8_t*>(packed.raw());
  auto* target = static_cast<uint8_t*>(bytes.raw());
  for (int64_t i = 0; i < packed.count(); ++i) {
    const BitPosition at(i, bits);
    int element = source[at.byte] >> at.shift;
    if (at.spills) element |= source[at.byte + 1] << (8 - at.shift);
    element &= (1 << bits) - 1;
    if (is_signed && element >= 1 << (bits - 1)) element -= 1 << bits;
    target[i] = static_cast<uint8_t>(element);
  }
  return bytes;
}

std::vector<int64_t> dims_of(const AnyArray& array) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<int64_t>(array.shape(i)));
  return dims;
}

// A tensor over the array's memory. The array object lives as long as the tensor does.
Value tensor_over(const AnyArray& array, int dtype) {
  auto* owner = new AnyArray(array);
  auto release = [](void* user) {
    // The last run that holds the tensor may end in any thread.
    const WithLock locked;
    delete static_cast<AnyArray*>(user);
  };
  try {
    return Value::borrow(static_cast<tn_dtype>(dtype), dims_of(array), const_cast<void*>(array.data()), array.nbytes(),
                         release, owner);
  } catch (...) {
    delete owner;
    throw;
  }
}

Value tensor_from_array(const AnyArray& array, int dtype, bool copy) {
  if (bits_of(dtype) < 8) return packed_tensor(array, dtype, dims_of(array));
  if (!copy) return tensor_over(array, dtype);
  Value value = Value::allocate(static_cast<tn_dtype>(dtype), dims_of(array));
  if (static_cast<size_t>(value.bytes()) != array.nbytes())
    throw tenon::Error(TN_INVALID_ARGUMENT, "the elements of the array have a different size");
  if (value.bytes()) std::memcpy(value.raw(), array.data(), array.nbytes());
  return value;
}

// The element type of what comes through DLPack; undefined when ONNX has none.
tn_dtype dtype_from_dlpack(const nb::dlpack::dtype& type) {
  using nb::dlpack::dtype_code;
  const int bits = type.bits;
  if (type.lanes != 1) return TN_UNDEFINED;
  switch (static_cast<dtype_code>(type.code)) {
    case dtype_code::Int:
      return bits == 8 ? TN_INT8 : bits == 16 ? TN_INT16 : bits == 32 ? TN_INT32 : bits == 64 ? TN_INT64 : TN_UNDEFINED;
    case dtype_code::UInt:
      return bits == 8    ? TN_UINT8
             : bits == 16 ? TN_UINT16
             : bits == 32 ? TN_UINT32
             : bits == 64 ? TN_UINT64
                          : TN_UNDEFINED;
    case dtype_code::Float:
      return bits == 16 ? TN_FLOAT16 : bits == 32 ? TN_FLOAT32 : bits == 64 ? TN_FLOAT64 : TN_UNDEFINED;
    case dtype_code::Complex:
      return bits == 64 ? TN_COMPLEX64 : bits == 128 ? TN_COMPLEX128 : TN_UNDEFINED;
    case dtype_code::Bfloat:
      return bits == 16 ? TN_BFLOAT16 : TN_UNDEFINED;
    case dtype_code::Bool:
      return bits == 8 ? TN_BOOL : TN_UNDEFINED;
    default:
      return TN_UNDEFINED;
  }
}

Value tensor_from_dlpack(const AnyArray& array) {
  const tn_dtype dtype = dtype_from_dlpack(array.dtype());
  if (dtype == TN_UNDEFINED) throw tenon::Error(TN_UNSUPPORTED, "ONNX has no element type for the DLPack tensor");
  return tensor_over(array, dtype);
}

nb::dlpack::dtype dlpack_dtype(int dtype) {
  using nb::dlpack::dtype_code;
  auto make = [](dtype_code code, int bits) {
    return nb::dlpack::dtype{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  };
  switch (dtype) {
    case TN_FLOAT32:
    case TN_FLOAT64:
    case TN_FLOAT16:
      return make(dtype_code::Float, bits_of(dtype));
    case TN_BFLOAT16:
      return make(dtype_code::Bfloat, 16);
    case TN_BOOL:
      return make(dtype_code::Bool, 8);
    case TN_COMPLEX64:
    case TN_COMPLEX128:
      return make(dtype_code::Complex, bits_of(dtype));
    case TN_INT8:
    case TN_INT16:
    case TN_INT32:
    case TN_INT64:
      return make(dtype_code::Int, bits_of(dtype));
    case TN_UINT8:
    case TN_UINT16:
    case TN_UINT32:
    case TN_UINT64:
      return make(dtype_code::UInt, bits_of(dtype));
    default:
      throw tenon::Error(TN_UNSUPPORTED,
                         std::string("DLPack has no element type ") + tn_dtype_name(static_cast<tn_dtype>(dtype)));
  }
}

// An object with __dlpack__ and __dlpack_device__ over the tensor's memory.
nb::object dlpack_of(const Value& value) {
  std::vector<size_t> shape;
  for (int64_t d : value.dims()) shape.push_back(static_cast<size_t>(d));
  const nb::dlpack::dtype dtype = dlpack_dtype(value.dtype());
  nb::capsule keeper(new Value(value), [](void* p) noexcept { delete static_cast<Value*>(p); });
  return nb::cast(nb::ndarray<nb::array_api>(value.raw(), shape.size(), shape.data(), keeper, nullptr, dtype));
}

Value tensor_from_strings(const std::vector<nb::bytes>& strings, const std::vector<int64_t>& dims) {
  std::vector<std::string> texts;
  for (const nb::bytes& s : strings) texts.emplace_back(s.c_str(), s.size());
  return Value::strings(dims, texts);
}

std::vector<nb::bytes> strings_of(const Value& value) {
  std::vector<nb::bytes> strings;
  for (int64_t i = 0; i < value.count(); ++i) {
    const std::string_view s = value.string(i);
    strings.emplace_back(s.data(), s.size());
  }
  return strings;
}

// The elements as bytes, which is what numpy.ndarray(shape, dtype, buffer) wants.
int value_buffer(PyObject* self, Py_buffer* view, int flags) {
  static char nothing[64] = {};
  const Value& value = *nb::inst_ptr<Value>(self);
  const int64_t bytes = value.bytes();
  return PyBuffer_FillInfo(view, self, bytes ? value.raw() : nothing, bytes, 0, flags);
}

PyType_Slot value_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&value_buffer)}, {0, nullptr}};

void bind_types(nb::module_& m) {
  nb::class_<tenon::TypeView>(m, "Type")
      .def_prop_ro("kind", [](const tenon::TypeView& t) { return static_cast<int>(t.kind()); })
      .def_prop_ro("dtype", [](const tenon::TypeView& t) { return static_cast<int>(t.dtype()); })
      .def_prop_ro("dims", &tenon::TypeView::dims)
      .def_prop_ro("dim_names",
                   [](const tenon::TypeView& t) {
                     nb::list names;
                     const auto dims = t.dims();
                     for (size_t i = 0; dims && i < dims->size(); ++i) names.append(decoded(t.dim_name(i)));
                     return names;
                   })
      .def_prop_ro("element", &tenon::TypeView::element, nb::keep_alive<0, 1>())
      .def_prop_ro("text", [](const tenon::TypeView& t) { return decoded(t.text()); });
}

void set_package(nb::object ndarray, const std::vector<nb::object>& dtypes, nb::object value_from,
                 nb::object object_from, nb::object explain_names) {
  Package& p = package();
  p.ndarray = ndarray.release().ptr();
  for (size_t i = 0; i < dtypes.size() && i < std::size(p.dtypes); ++i)
    p.dtypes[i] = dtypes[i].is_none() ? nullptr : nb::object(dtypes[i]).release().ptr();
  p.value_from = value_from.release().ptr();
  p.object_from = object_from.release().ptr();
  p.explain_names = explain_names.release().ptr();
}

}  // namespace

void bind_values(nb::module_& m) {
  m.def("set_package", &set_package);
  bind_types(m);
  nb::class_<Value>(m, "Value", nb::type_slots(value_slots))
      .def_static("from_array", &tensor_from_array, nb::arg("array"), nb::arg("dtype"), nb::arg("copy") = false)
      .def_static("from_dlpack", &tensor_from_dlpack, nb::arg("array"))
      .def_static("from_strings", &tensor_from_strings, nb::arg("strings"), nb::arg("dims"))
      .def_static(
          "from_address",
          [](uintptr_t address, int dtype, const std::vector<int64_t>& dims) {
            int64_t count = 1;
            for (int64_t d : dims) count *= d;
            const int64_t bytes = tn_dtype_bytes(static_cast<tn_dtype>(dtype), count);
            return Value::borrow(static_cast<tn_dtype>(dtype), dims, reinterpret_cast<void*>(address),
                                 static_cast<size_t>(bytes));
          },
          nb::arg("address"), nb::arg("dtype"), nb::arg("dims"))
      .def_static(
          "allocate",
          [](int dtype, const std::vector<int64_t>& dims) {
            return Value::allocate(static_cast<tn_dtype>(dtype), dims);
          },
          nb::arg("dtype"), nb::arg("dims"))
      .def_static(
          "sequence",
          [](const std::vector<Value>& items, const tenon::TypeView* element) {
            return Value::sequence(items, element ? element->handle() : nullptr);
          },
          nb::arg("items"), nb::arg("element").none() = nullptr)
      .def_static(
          "optional",
          [](const Value* item, const tenon::TypeView* element) {
            return Value::optional(item ? *item : Value(), element ? element->handle() : nullptr);
          },
          nb::arg("item").none(), nb::arg("element").none() = nullptr)
      .def_static("map", &Value::map, nb::arg("keys"), nb::arg("values"))
      .def_prop_ro("kind", [](const Value& v) { return static_cast<int>(v.kind()); })
      .def_prop_ro("dtype", [](const Value& v) { return static_cast<int>(v.dtype()); })
      .def_prop_ro("dims", &Value::dims)
      .def_prop_ro("bytes", &Value::bytes)
      .def_prop_ro("address", [](const Value& v) { return reinterpret_cast<uintptr_t>(v.raw()); })
      .def_prop_ro("type_text", &Value::type_text)
      .def("array", [](nb::handle self) { return array_over(self, nb::cast<const Value&>(self)); })
      .def("unpacked", &unpacked_tensor)
      .def("dlpack", &dlpack_of)
      .def("strings", &strings_of)
      .def("__len__", &Value::size)
      .def("item", [](const Value& v, size_t i) { return v.at(i); })
      .def("inside", &Value::item)
      .def("keys_and_values", &Value::keys_and_values);
}
