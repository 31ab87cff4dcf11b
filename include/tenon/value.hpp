// What goes into and comes out of runs: tensors of all element types, sequences, optionals, maps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/error.hpp"
#include "tenon/type.hpp"

namespace tenon {
inline namespace v0 {

// A tensor, sequence, optional or map. Copies share the elements.
class Value {
 public:
  Value() = default;
  explicit Value(tn_value* handle) : handle_(handle) {}
  Value(const Value& other) : handle_(tn_value_retain(other.get())) {}
  Value& operator=(const Value& other) {
    handle_.reset(tn_value_retain(other.get()));
    return *this;
  }
  Value(Value&&) = default;
  Value& operator=(Value&&) = default;

  // Over memory of the caller's, which must outlive every use of the value.
  template <class T>
  static Value tensor(const std::vector<int64_t>& dims, std::span<T> data) {
    return borrow(detail::DTypeOf<std::remove_const_t<T>>::value, dims,
                  const_cast<void*>(static_cast<const void*>(data.data())), data.size_bytes());
  }
  template <class T>
  static Value tensor(const std::vector<int64_t>& dims, std::vector<T>& data) {
    return tensor<T>(dims, std::span<T>(data));
  }
  static Value borrow(tn_dtype dtype, const std::vector<int64_t>& dims, void* data, size_t bytes,
                      void (*release)(void*) = nullptr, void* user = nullptr) {
    tn_value* value = nullptr;
    detail::check(tn_tensor_create(dtype, dims.data(), dims.size(), data, bytes, release, user, &value));
    return Value(value);
  }
  // With memory of its own.
  static Value allocate(tn_dtype dtype, const std::vector<int64_t>& dims) {
    tn_value* value = nullptr;
    detail::check(tn_tensor_allocate(dtype, dims.data(), dims.size(), &value));
    return Value(value);
  }
  static Value strings(const std::vector<int64_t>& dims, std::span<const std::string> strings) {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
    for (const std::string& s : strings) {
      texts.push_back(s.data());
      lengths.push_back(s.size());
    }
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    if (count != static_cast<int64_t>(strings.size()))
      throw Error(TN_INVALID_ARGUMENT, "the shape needs " + std::to_string(count) + " strings, " +
                                           std::to_string(strings.size()) + " are given");
    tn_value* value = nullptr;
    detail::check(tn_tensor_create_strings(dims.data(), dims.size(), texts.data(), lengths.data(), &value));
    return Value(value);
  }
  static Value sequence(std::span<const Value> items, const tn_type* element_type = nullptr) {
    std::vector<const tn_value*> handles;
    for (const Value& item : items) handles.push_back(item.get());
    tn_value* value = nullptr;
    detail::check(tn_sequence_create(handles.data(), handles.size(), element_type, &value));
    return Value(value);
  }
  // An empty Value makes an empty optional.
  static Value optional(const Value& item, const tn_type* element_type = nullptr) {
    tn_value* value = nullptr;
    detail::check(tn_optional_create(item.get(), element_type, &value));
    return Value(value);
  }
  static Value map(const Value& keys, const Value& values) {
    tn_value* value = nullptr;
    detail::check(tn_map_create(keys.get(), values.get(), &value));
    return Value(value);
  }

  explicit operator bool() const { return handle_ != nullptr; }
  tn_kind kind() const { return tn_value_kind(get()); }
  tn_dtype dtype() const { return tn_tensor_dtype(get()); }
  std::vector<int64_t> dims() const {
    const int64_t* dims = tn_tensor_dims(get());
    return dims ? std::vector<int64_t>(dims, dims + tn_tensor_rank(get())) : std::vector<int64_t>{};
  }
  int64_t count() const { return tn_tensor_count(get()); }
  void* raw() const { return tn_tensor_data(get()); }
  int64_t bytes() const { return tn_tensor_bytes(get()); }
  // The elements; throws when T is not the element type.
  template <class T>
  std::span<T> data() const {
    using Element = std::remove_const_t<T>;
    if (dtype() != detail::DTypeOf<Element>::value)
      throw Error(TN_INVALID_ARGUMENT, std::string("the tensor holds ") + tn_dtype_name(dtype()) + ", not " +
                                           tn_dtype_name(detail::DTypeOf<Element>::value));
    return {static_cast<T*>(raw()), static_cast<size_t>(count())};
  }
  std::string_view string(int64_t index) const {
    size_t length = 0;
    const char* text = tn_tensor_string(get(), index, &length);
    if (!text) throw Error(TN_INVALID_ARGUMENT, "no string at index " + std::to_string(index));
    return {text, length};
  }
  size_t size() const { return tn_sequence_count(get()); }
  Value at(size_t index) const {
    tn_value* item = nullptr;
    detail::check(tn_sequence_at(get(), index, &item));
    return Value(item);
  }
  // Nothing when the optional is empty.
  std::optional<Value> item() const {
    tn_value* inside = nullptr;
    detail::check(tn_optional_get(get(), &inside));
    return inside ? std::optional(Value(inside)) : std::nullopt;
  }
  std::pair<Value, Value> keys_and_values() const {
    tn_value *keys = nullptr, *values = nullptr;
    detail::check(tn_map_get(get(), &keys, &values));
    return {Value(keys), Value(values)};
  }
  std::string type_text() const {
    char* text = nullptr;
    detail::check(tn_value_type_text(get(), &text));
    return detail::take_text(text);
  }
  // Without dims the nesting of the lists is the shape.
  static Value from_json(tn_dtype dtype, const std::string& json, const std::vector<int64_t>* dims = nullptr) {
    static constexpr int64_t kScalar = 0;  // an address for the dims of a scalar
    const int64_t* shape = !dims ? nullptr : dims->empty() ? &kScalar : dims->data();
    tn_value* value = nullptr;
    detail::check(
        tn_tensor_from_json(dtype, shape, dims ? dims->size() : 0, detail::c_text(json, "JSON text"), &value));
    return Value(value);
  }
  std::string describe(size_t max_elements = 8) const {
    char* text = nullptr;
    detail::check(tn_value_describe(get(), max_elements, &text));
    return detail::take_text(text);
  }
  // How far this is from what it should be; negative tolerances mean those of the element type.
  tn_comparison compare(const Value& expected, double rtol = -1, double atol = -1) const {
    tn_comparison comparison{};
    comparison.size = sizeof comparison;
    detail::check(tn_value_compare(get(), expected.get(), rtol, atol, &comparison));
    return comparison;
  }

  static Value read_npy(const std::string& path, tn_dtype unnamed = TN_UNDEFINED) {
    tn_value* value = nullptr;
    detail::check(tn_npy_read(detail::c_text(path, "the path of an array"), unnamed, &value));
    return Value(value);
  }
  void write_npy(const std::string& path) const {
    detail::check(tn_npy_write(detail::c_text(path, "the path of an array"), get()));
  }

  tn_value* get() const { return handle_.get(); }
  tn_value* release() { return handle_.release(); }

 private:
  detail::Owner<tn_value, tn_value_release> handle_;
};

}  // namespace v0
}  // namespace tenon
