#include "tensor/dtype.h"

#include "base/checked_math.h"

namespace tenon {

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
#define DTYPE(name, code, bits, type, text) \
  case DType::name:                         \
    return text;
#include "tensor/dtype.def"
#undef DTYPE
    default:
      return "undefined";
  }
}

std::optional<DType> dtype_from_name(std::string_view name) {
#define DTYPE(id, code, bits, type, text) \
  if (name == text) return DType::id;
#include "tensor/dtype.def"
#undef DTYPE
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx(int64_t code) {
  switch (code) {
#define DTYPE(name, number, bits, type, text) \
  case number:                                \
    return DType::name;
#include "tensor/dtype.def"
#undef DTYPE
    default:
      return std::nullopt;
  }
}

int dtype_bits(DType dtype) {
  switch (dtype) {
#define DTYPE(name, code, bits, type, text) \
  case DType::name:                         \
    return bits;
#include "tensor/dtype.def"
#undef DTYPE
    default:
      return 8;
  }
}

std::optional<int64_t> storage_bytes(DType dtype, int64_t elements) {
  const int bits = dtype_bits(dtype);
  if (bits >= 8) return checked_mul(elements, bits / 8);
  return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

bool is_float(DType d) {
  switch (d) {
    case DType::Float32:
    case DType::Float64:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E8M0:
    case DType::Float4E2M1:
    case DType::Float6E2M3:
    case DType::Float6E3M2:
      return true;
    default:
      return false;
  }
}

uint8_t sub_byte_float_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::Float6E2M3:
      return Float6E2M3(value).bits;
    case DType::Float6E3M2:
      return Float6E3M2(value).bits;
    default:
      return Float4E2M1(value).bits;
  }
}

bool is_signed_integer(DType d) {
  return d == DType::Int8 || d == DType::Int16 || d == DType::Int32 || d == DType::Int64 || d == DType::Int4 ||
         d == DType::Int2;
}

bool is_unsigned_integer(DType d) {
  return d == DType::UInt8 || d == DType::UInt16 || d == DType::UInt32 || d == DType::UInt64 || d == DType::UInt4 ||
         d == DType::UInt2;
}

}  // namespace tenon
