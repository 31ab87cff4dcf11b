#include <cstring>

#include "wire/onnx_fields.h"
#include "wire/onnx_tensor_storage.h"

// Elements that are not raw bytes but entries of a repeated field chosen by the element type.
namespace tenon::wire {

namespace {

using namespace field::tensor;

struct TypedField {
  uint32_t number;
  const char* name;
  size_t fixed_width;  // of one entry; 0 for varints and strings
};

TypedField typed_field(DType dtype) {
  switch (dtype) {
    case DType::Float32:
    case DType::Complex64:
      return {kFloatData, "float_data", sizeof(float)};
    case DType::Float64:
    case DType::Complex128:
      return {kDoubleData, "double_data", sizeof(double)};
    case DType::Int64:
      return {kInt64Data, "int64_data", 0};
    case DType::UInt32:
    case DType::UInt64:
      return {kUInt64Data, "uint64_data", 0};
    case DType::String:
      return {kStringData, "string_data", 0};
    default:
      return {kInt32Data, "int32_data", 0};
  }
}

template <class F>
void for_each_field(const TensorProto& proto, uint32_t number, F&& f) {
  for (Bytes piece : proto.other) {
    FieldReader reader(piece);
    for (Field field; reader.next(field);)
      if (field.number == number) f(field);
  }
}

int64_t count_entries(const Field& field, const TypedField& typed) {
  if (typed.number == kStringData) {
    field.expect(WireType::length_delimited);
    return 1;
  }
  if (field.wire != WireType::length_delimited) return 1;
  if (typed.fixed_width != 0) {
    if (field.payload.size() % typed.fixed_width != 0) throw protozero::invalid_length_exception{};
    return static_cast<int64_t>(field.payload.size() / typed.fixed_width);
  }
  // Every varint ends with the one byte that has its top bit clear.
  int64_t count = 0;
  for (char c : field.payload) count += static_cast<uint8_t>(c) < 0x80;
  return count;
}

bool is_float6(DType dtype) { return dtype_bits(dtype) == 6; }

int64_t expected_entries(const TensorHeader& header) {
  if (is_complex(header.dtype)) return 2 * header.elements;
  // Elements of 2 and 4 bits share entries the way they share bytes; those of 6 bits have an entry each.
  return is_sub_byte(header.dtype) && !is_float6(header.dtype) ? header.bytes : header.elements;
}

template <class T>
void store_varints(const TensorProto& proto, uint32_t number, void* target) {
  T* next = static_cast<T*>(target);
  for_each_field(proto, number, [&](const Field& field) {
    for_each_varint(field, [&](uint64_t value) { *next++ = static_cast<T>(value); });
  });
}

void store_six_bit_varints(const TensorProto& proto, uint32_t number, Tensor& tensor) {
  std::vector<uint8_t> one_per_byte(static_cast<size_t>(tensor.size()));
  store_varints<uint8_t>(proto, number, one_per_byte.data());
  pack_sub_byte(tensor.dtype(), one_per_byte.data(), tensor.size(), tensor.mutable_data());
}

void store_fixed(const TensorProto& proto, const TypedField& typed, void* target) {
  auto* next = static_cast<char*>(target);
  const WireType single = typed.fixed_width == 4 ? WireType::fixed32 : WireType::fixed64;
  for_each_field(proto, typed.number, [&](const Field& field) {
    if (field.wire == WireType::length_delimited) {
      if (!field.payload.empty()) std::memcpy(next, field.payload.data(), field.payload.size());
      next += field.payload.size();
      return;
    }
    field.expect(single);
    std::memcpy(next, &field.scalar, typed.fixed_width);
    next += typed.fixed_width;
  });
}

Status store(const TensorProto& proto, const TypedField& typed, Tensor& tensor) {
  void* target = tensor.mutable_data();
  if (typed.number == kStringData) {
    auto* next = static_cast<std::string*>(target);
    for_each_field(proto, typed.number, [&](const Field& field) { *next++ = std::string(field.bytes()); });
    return {};
  }
  if (typed.fixed_width != 0) {
    store_fixed(proto, typed, target);
    return {};
  }
  switch (dtype_bits(tensor.dtype())) {
    case 64:
      store_varints<uint64_t>(proto, typed.number, target);
      break;
    case 32:
      store_varints<uint32_t>(proto, typed.number, target);
      break;
    case 16:
      store_varints<uint16_t>(proto, typed.number, target);
      break;
    case 6:
      store_six_bit_varints(proto, typed.number, tensor);
      break;
    default:
      if (tensor.dtype() == DType::Bool)
        store_varints<bool>(proto, typed.number, target);
      else
        store_varints<uint8_t>(proto, typed.number, target);
  }
  return {};
}

}  // namespace

bool has_typed_data(const TensorProto& proto) {
  bool found = false;
  for (uint32_t number : {kFloatData, kInt32Data, kStringData, kInt64Data, kDoubleData, kUInt64Data})
    for_each_field(proto, number, [&](const Field&) { found = true; });
  return found;
}

Result<Tensor> decode_typed_data(const TensorProto& proto, const TensorHeader& header,
                                 const std::shared_ptr<const void>& owner) {
  const TypedField typed = typed_field(header.dtype);
  int64_t entries = 0, fields = 0;
  Field last;
  for_each_field(proto, typed.number, [&](const Field& field) {
    entries += count_entries(field, typed);
    ++fields;
    last = field;
  });
  const int64_t expected = expected_entries(header);
  if (entries != expected)
    return invalid_model("element type {} and dims {} need {} entries of {}, but there are {}",
                         dtype_name(header.dtype), dims_text(proto.dims), expected, typed.name, entries);
  // Packed fixed-width entries are laid out like raw data.
  if (typed.fixed_width != 0 && fields == 1 && last.wire == WireType::length_delimited)
    return tensor_over_bytes(header, proto.dims, last.payload, owner);
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(header.dtype, proto.dims, nullptr));
  TN_RETURN_IF_ERROR(store(proto, typed, tensor));
  if (is_sub_byte(header.dtype) && header.bytes > 0)
    return tensor_over_bytes(header, proto.dims, Bytes(static_cast<const char*>(tensor.data()), header.bytes),
                             tensor.owner());
  return tensor;
}

}  // namespace tenon::wire
