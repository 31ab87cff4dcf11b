#include <cstring>

#include "base/checked_math.h"
#include "runtime/api/handles.h"
#include "tensor/nesting.h"

using namespace tenon;

namespace {

Result<DType> checked_dtype(tn_dtype dtype) {
  auto known = dtype_from_onnx(dtype);
  if (!known) return invalid_argument("{} is not a valid element type", static_cast<int>(dtype));
  return *known;
}

Status check_shape(DType dtype, const int64_t* dims, size_t rank, int64_t* bytes) {
  if (!dims && rank) return invalid_argument("dims must not be NULL for rank {}", rank);
  auto count = checked_product({dims, rank});
  if (!count) return invalid_argument("a dimension is negative or the tensor is too large");
  auto needed = storage_bytes(dtype, *count);
  if (!needed) return invalid_argument("the tensor is too large");
  *bytes = *needed;
  return {};
}

const Tensor* tensor_of(const tn_value* value) { return value ? value->value.tensor() : nullptr; }

}  // namespace

extern "C" {

const char* tn_dtype_name(tn_dtype dtype) { return dtype_name(static_cast<DType>(dtype)).data(); }

int64_t tn_dtype_bytes(tn_dtype dtype, int64_t count) {
  auto known = dtype_from_onnx(dtype);
  if (!known || *known == DType::String || count < 0) return 0;
  return storage_bytes(*known, count).value_or(0);
}

tn_status* tn_tensor_create(tn_dtype dtype, const int64_t* dims, size_t rank, void* data, size_t bytes,
                            void (*release)(void* user), void* user, tn_value** value) {
  return api::guarded([&]() -> Status {
    if (!value) return invalid_argument("value must not be NULL");
    TN_ASSIGN_OR_RETURN(DType type, checked_dtype(dtype));
    if (type == DType::String) return invalid_argument("create string tensors with tn_tensor_create_strings");
    int64_t needed = 0;
    TN_RETURN_IF_ERROR(check_shape(type, dims, rank, &needed));
    if (static_cast<int64_t>(bytes) != needed)
      return invalid_argument("the shape needs {} bytes, but {} are given", needed, bytes);
    if (!data && needed) return invalid_argument("data must not be NULL");
    const size_t alignment = std::min<size_t>(8, std::max(1, dtype_bits(type) / 8));
    if (reinterpret_cast<uintptr_t>(data) % alignment != 0)
      return invalid_argument("data of element type {} must be aligned to {} bytes", dtype_name(type), alignment);
    std::shared_ptr<const void> owner;
    if (release) owner = std::shared_ptr<const void>(data, [release, user](const void*) { release(user); });
    *value = new tn_value{Tensor::borrow(type, {dims, dims + rank}, data, std::move(owner))};
    return {};
  });
}

tn_status* tn_tensor_allocate(tn_dtype dtype, const int64_t* dims, size_t rank, tn_value** value) {
  return api::guarded([&]() -> Status {
    if (!value) return invalid_argument("value must not be NULL");
    TN_ASSIGN_OR_RETURN(DType type, checked_dtype(dtype));
    int64_t bytes = 0;
    TN_RETURN_IF_ERROR(check_shape(type, dims, rank, &bytes));
    TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(type, {dims, dims + rank}, nullptr));
    *value = new tn_value{std::move(tensor)};
    return {};
  });
}

tn_status* tn_tensor_create_strings(const int64_t* dims, size_t rank, const char* const* strings, const size_t* lengths,
                                    tn_value** value) {
  return api::guarded([&]() -> Status {
    if (!value) return invalid_argument("value must not be NULL");
    int64_t bytes = 0;
    TN_RETURN_IF_ERROR(check_shape(DType::String, dims, rank, &bytes));
    TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(DType::String, {dims, dims + rank}, nullptr));
    auto target = tensor.as_mutable<std::string>();
    if (!strings && !target.empty()) return invalid_argument("strings must not be NULL");
    for (size_t i = 0; i < target.size(); ++i)
      target[i] = lengths ? std::string(strings[i], lengths[i]) : std::string(strings[i]);
    *value = new tn_value{std::move(tensor)};
    return {};
  });
}

tn_status* tn_sequence_create(const tn_value* const* items, size_t count, const tn_type* element_type,
                              tn_value** value) {
  return api::guarded([&]() -> Status {
    if (!value || (!items && count)) return invalid_argument("items and value must not be NULL");
    if (!count && !element_type) return invalid_argument("an empty sequence needs an element type");
    Sequence sequence;
    for (size_t i = 0; i < count; ++i) sequence.items.push_back(items[i]->value);
    if (element_type) {
      sequence.element = element_type->type;
    } else {
      sequence.element = sequence.items[0].type();
      sequence.element.shape.reset();
    }
    for (size_t i = 0; i < count; ++i) {
      Type type = sequence.items[i].type();
      if (type.kind != sequence.element.kind || type.dtype != sequence.element.dtype)
        return invalid_argument("item {} is {}, but the sequence holds {}", i, type.to_string(),
                                sequence.element.to_string());
    }
    Value made(std::move(sequence));
    TN_RETURN_IF_ERROR(check_nesting(made));
    *value = new tn_value{std::move(made)};
    return {};
  });
}

tn_status* tn_optional_create(const tn_value* item, const tn_type* element_type, tn_value** value) {
  return api::guarded([&]() -> Status {
    if (!value) return invalid_argument("value must not be NULL");
    Optional optional;
    if (element_type) optional.element = element_type->type;
    if (item) {
      optional.item = std::make_shared<const Value>(item->value);
      if (!element_type) optional.element = item->value.type();
    }
    Value made(std::move(optional));
    TN_RETURN_IF_ERROR(check_nesting(made));
    *value = new tn_value{std::move(made)};
    return {};
  });
}

tn_status* tn_map_create(const tn_value* keys, const tn_value* values, tn_value** value) {
  return api::guarded([&]() -> Status {
    const Tensor *k = tensor_of(keys), *v = tensor_of(values);
    if (!value || !k || !v) return invalid_argument("keys and values must be tensors");
    if (k->dims().size() != 1 || v->dims() != k->dims())
      return invalid_argument("keys and values must be 1-D tensors of the same length");
    Map map;
    map.key = k->dtype();
    map.value = v->dtype();
    map.values = *v;
    if (k->dtype() == DType::String)
      map.string_keys.assign(k->as<std::string>().begin(), k->as<std::string>().end());
    else if (k->dtype() == DType::Int64)
      map.int_keys.assign(k->as<int64_t>().begin(), k->as<int64_t>().end());
    else
      return invalid_argument("keys must be int64 or strings, but they are {}", dtype_name(k->dtype()));
    *value = new tn_value{Value(std::move(map))};
    return {};
  });
}

tn_value* tn_value_retain(const tn_value* value) { return value ? new (std::nothrow) tn_value(*value) : nullptr; }
void tn_value_release(tn_value* value) { delete value; }

tn_kind tn_value_kind(const tn_value* value) {
  if (!value) return TN_KIND_NONE;
  if (value->value.tensor()) return TN_KIND_TENSOR;
  if (value->value.sequence()) return TN_KIND_SEQUENCE;
  if (value->value.optional()) return TN_KIND_OPTIONAL;
  return value->value.map() ? TN_KIND_MAP : TN_KIND_NONE;
}

tn_dtype tn_tensor_dtype(const tn_value* value) {
  const Tensor* t = tensor_of(value);
  return t ? static_cast<tn_dtype>(t->dtype()) : TN_UNDEFINED;
}
size_t tn_tensor_rank(const tn_value* value) { return tensor_of(value) ? tensor_of(value)->dims().size() : 0; }
const int64_t* tn_tensor_dims(const tn_value* value) {
  return tensor_of(value) ? tensor_of(value)->dims().data() : nullptr;
}
int64_t tn_tensor_count(const tn_value* value) { return tensor_of(value) ? tensor_of(value)->size() : 0; }
void* tn_tensor_data(const tn_value* value) {
  const Tensor* t = tensor_of(value);
  return !t || t->dtype() == DType::String ? nullptr : const_cast<void*>(t->data());
}
int64_t tn_tensor_bytes(const tn_value* value) {
  const Tensor* t = tensor_of(value);
  return !t || t->dtype() == DType::String ? 0 : t->bytes();
}

const char* tn_tensor_string(const tn_value* value, int64_t index, size_t* length) {
  const Tensor* t = tensor_of(value);
  if (!t || t->dtype() != DType::String || index < 0 || index >= t->size()) return nullptr;
  const std::string& s = t->as<std::string>()[static_cast<size_t>(index)];
  if (length) *length = s.size();
  return s.data();
}

tn_status* tn_tensor_set_string(tn_value* value, int64_t index, const char* text, size_t length) {
  return api::guarded([&]() -> Status {
    Tensor* t = value ? value->value.tensor() : nullptr;
    if (!t || t->dtype() != DType::String || index < 0 || index >= t->size() || (!text && length))
      return invalid_argument("there is no string at index {}", index);
    t->as_mutable<std::string>()[static_cast<size_t>(index)] = text ? std::string(text, length) : std::string();
    return {};
  });
}

size_t tn_sequence_count(const tn_value* value) {
  return value && value->value.sequence() ? value->value.sequence()->items.size() : 0;
}

tn_status* tn_sequence_at(const tn_value* value, size_t index, tn_value** item) {
  return api::guarded([&]() -> Status {
    if (index >= tn_sequence_count(value) || !item)
      return invalid_argument("index {} is out of range for a sequence of {} items", index, tn_sequence_count(value));
    *item = new tn_value{value->value.sequence()->items[index]};
    return {};
  });
}

tn_status* tn_optional_get(const tn_value* value, tn_value** item) {
  return api::guarded([&]() -> Status {
    if (!value || !value->value.optional() || !item) return invalid_argument("the value is not an optional");
    const auto& inside = value->value.optional()->item;
    *item = inside ? new tn_value{*inside} : nullptr;
    return {};
  });
}

tn_status* tn_map_get(const tn_value* value, tn_value** keys, tn_value** values) {
  return api::guarded([&]() -> Status {
    if (!value || !value->value.map() || !keys || !values) return invalid_argument("the value is not a map");
    const Map& map = *value->value.map();
    Tensor k = map.key == DType::String
                   ? Tensor::of<std::string>({static_cast<int64_t>(map.string_keys.size())}, map.string_keys)
                   : Tensor::of_ints(map.int_keys);
    auto made_keys = std::make_unique<tn_value>(tn_value{std::move(k)});
    *values = new tn_value{map.values};
    *keys = made_keys.release();
    return {};
  });
}

tn_status* tn_value_type_text(const tn_value* value, char** text) {
  return api::guarded([&]() -> Status {
    if (!value || !text) return invalid_argument("value and text must not be NULL");
    *text = api::copy_text(value->value.type().to_string());
    return {};
  });
}

}  // extern "C"
