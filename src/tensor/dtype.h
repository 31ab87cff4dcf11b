#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/small_float.h"

namespace tenon {

enum class DType : uint8_t {
  Undefined = 0,
#define DTYPE(name, code, bits, type, text) name = code,
#include "tensor/dtype.def"
#undef DTYPE
};

// "float", "int64", ...; "undefined" for Undefined.
std::string_view dtype_name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
// The type with this ONNX code, if there is one.
std::optional<DType> dtype_from_onnx(int64_t code);

// Bits one element takes in storage; strings count as one std::string object.
int dtype_bits(DType dtype);
// Bytes n elements take in storage; nothing when that overflows.
std::optional<int64_t> storage_bytes(DType dtype, int64_t elements);
inline bool is_sub_byte(DType dtype) { return dtype_bits(dtype) < 8; }
bool is_float(DType dtype);           // all real floating types, from float4 to double
bool is_signed_integer(DType dtype);  // int2 to int64
bool is_unsigned_integer(DType dtype);
inline bool is_integer(DType dtype) { return is_signed_integer(dtype) || is_unsigned_integer(dtype); }
// The bits of a number as a float of 4 or 6 bits.
uint8_t sub_byte_float_bits(DType dtype, double value);
inline bool is_complex(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }

// The C++ type of one element, and back.
template <DType>
struct ElementOf;
template <class T>
struct DTypeOf;
#define DTYPE(name, code, bits, cpp, text)      \
  template <>                                   \
  struct ElementOf<DType::name> {               \
    using type = cpp;                           \
  };                                            \
  template <>                                   \
  struct DTypeOf<cpp> {                         \
    static constexpr DType value = DType::name; \
  };
#include "tensor/dtype.def"
#undef DTYPE
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the element type of a dtype, which must not be Undefined.
template <class F>
decltype(auto) with_element_type(DType dtype, F&& f) {
  switch (dtype) {
#define DTYPE(name, code, bits, cpp, text) \
  case DType::name:                        \
    return f(TypeTag<cpp>{});
#include "tensor/dtype.def"
#undef DTYPE
    default:
      return f(TypeTag<float>{});
  }
}

}  // namespace tenon
