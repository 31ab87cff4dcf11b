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

int bits_of(int dtype) {
  switch (dtype) {
    case TN_INT4:
    case TN_UINT4:
    case TN_FLOAT4E2M1:
      return 4;
    case TN_INT2:
    case TN_UINT2:
      return 2;
    default:
      return 8 * static_cast<int>(tn_dtype_bytes(static_cast<tn_dtype>(dtype), 1));
  }
}

// Sub-byte arrays come from Python with one element per byte; Tenon packs them.
Value packed_tensor(const AnyArray& array, int dtype, const std::vector<int64_t>& dims) {
  Value value = Value::allocate(static_cast<tn_dtype>(dtype), dims);
  const int bits = bits_of(dtype), per_byte = 8 / bits;
  const auto* source = static_cast<const uint8_t*>(array.data());
  auto* target = static_cast<uint8_t*>(value.raw());
  std::memset(target, 0, static_cast<size_t>(value.bytes()));
  for (int64_t i = 0; i < value.count(); ++i)
    target[i / per_byte] |= static_cast<uint8_t>((source[i] & ((1 << bits) - 1)) << (i % per_byte * bits));
  return value;
}

// A tensor over the array's memory. The array object lives as long as the tensor does.
Value tensor_from_array(const AnyArray& array, int dtype) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<int64_t>(array.shape(i)));
  if (bits_of(dtype) < 8) return packed_tensor(array, dtype, dims);
  auto* owner = new AnyArray(array);
  auto release = [](void* user) {
    // The last run that holds the tensor may end in any thread.
    nb::gil_scoped_acquire gil;
    delete static_cast<AnyArray*>(user);
  };
  try {
    return Value::borrow(static_cast<tn_dtype>(dtype), dims, const_cast<void*>(array.data()), array.nbytes(), release,
                         owner);
  } catch (...) {
    delete owner;
    throw;
  }
}

nb::dlpack::dtype storage_dtype(int dtype) {
  using nb::dlpack::dtype_code;
  auto make = [](dtype_code code, uint8_t bits) { return nb::dlpack::dtype{static_cast<uint8_t>(code), bits, 1}; };
  switch (dtype) {
    case TN_FLOAT32:
      return make(dtype_code::Float, 32);
    case TN_FLOAT64:
      return make(dtype_code::Float, 64);
    case TN_FLOAT16:
      return make(dtype_code::Float, 16);
    case TN_BOOL:
      return make(dtype_code::Bool, 8);
    case TN_COMPLEX64:
      return make(dtype_code::Complex, 64);
    case TN_COMPLEX128:
      return make(dtype_code::Complex, 128);
    case TN_INT8:
    case TN_INT16:
    case TN_INT32:
    case TN_INT64:
      return make(dtype_code::Int, static_cast<uint8_t>(bits_of(dtype)));
    default:  // unsigned integers, and types numpy does not know as their bit patterns
      return make(dtype_code::UInt, static_cast<uint8_t>(bits_of(dtype) < 8 ? 8 : bits_of(dtype)));
  }
}

// The elements without a copy (sub-byte ones unpacked, signed types sign-extended). The package views them as the
// dtype they are.
nb::object array_from_tensor(const Value& value) {
  const int dtype = value.dtype();
  std::vector<size_t> shape;
  for (int64_t d : value.dims()) shape.push_back(static_cast<size_t>(d));
  if (bits_of(dtype) >= 8) {
    auto* owner = new Value(value);
    nb::capsule keeper(owner, [](void* p) noexcept { delete static_cast<Value*>(p); });
    return nb::cast(nb::ndarray<nb::numpy>(value.raw(), shape.size(), shape.data(), keeper, nullptr, storage_dtype(dtype)));
  }
  const int bits = bits_of(dtype), per_byte = 8 / bits;
  auto* elements = new uint8_t[static_cast<size_t>(value.count()) + 1];
  nb::capsule keeper(elements, [](void* p) noexcept { delete[] static_cast<uint8_t*>(p); });
  const auto* source = static_cast<const uint8_t*>(value.raw());
  const bool is_signed = dtype == TN_INT4 || dtype == TN_INT2;
  for (int64_t i = 0; i < value.count(); ++i) {
    int element = (source[i / per_byte] >> (i % per_byte * bits)) & ((1 << bits) - 1);
    if (is_signed && element >= 1 << (bits - 1)) element -= 1 << bits;
    elements[i] = static_cast<uint8_t>(element);
  }
  return nb::cast(nb::ndarray<nb::numpy>(elements, shape.size(), shape.data(), keeper, nullptr, storage_dtype(dtype)));
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

}  // namespace

void bind_values(nb::module_& m) {
  nb::class_<tenon::TypeView>(m, "Type")
      .def_prop_ro("kind", [](const tenon::TypeView& t) { return static_cast<int>(t.kind()); })
      .def_prop_ro("dtype", [](const tenon::TypeView& t) { return static_cast<int>(t.dtype()); })
      .def_prop_ro("dims", &tenon::TypeView::dims)
      .def_prop_ro("dim_texts",
                   [](const tenon::TypeView& t) {
                     std::vector<std::string> texts;
                     const auto dims = t.dims();
                     for (size_t i = 0; dims && i < dims->size(); ++i) texts.push_back(t.dim_text(i));
                     return texts;
                   })
      .def_prop_ro("element", &tenon::TypeView::element, nb::keep_alive<0, 1>())
      .def_prop_ro("text", &tenon::TypeView::text);

  nb::class_<Value>(m, "Value")
      .def_static("from_array", &tensor_from_array, nb::arg("array"), nb::arg("dtype"))
      .def_static("from_strings", &tensor_from_strings, nb::arg("strings"), nb::arg("dims"))
      .def_static(
          "allocate",
          [](int dtype, const std::vector<int64_t>& dims) { return Value::allocate(static_cast<tn_dtype>(dtype), dims); },
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
      .def("array", &array_from_tensor)
      .def("strings", &strings_of)
      .def("__len__", &Value::size)
      .def("item", [](const Value& v, size_t i) { return v.at(i); })
      .def("inside", &Value::item)
      .def("keys_and_values", &Value::keys_and_values);
}
