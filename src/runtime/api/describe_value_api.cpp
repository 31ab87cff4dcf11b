// Values as JSON, for people and tools.
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/api/handles.h"

using namespace tenon;
using nlohmann::ordered_json;

namespace {

template <class T>
constexpr bool is_complex_element = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// A double as JSON can say it: shortest text that gives back a float when it came from one.
ordered_json number_json(double value, bool is_double) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (is_double) return value;
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, static_cast<float>(value));
  double shortest = value;
  std::from_chars(text, written.ptr, shortest);
  return shortest;
}

template <class T>
ordered_json element_json(const T& element) {
  if constexpr (std::is_same_v<T, std::string> || std::is_integral_v<T>)
    return element;
  else if constexpr (is_complex_element<T>)
    return {number_json(element.real(), sizeof(T) == 16), number_json(element.imag(), sizeof(T) == 16)};
  else if constexpr (std::is_same_v<T, Int4> || std::is_same_v<T, UInt4> || std::is_same_v<T, Int2> ||
                     std::is_same_v<T, UInt2>)
    return static_cast<int64_t>(element);
  else
    return number_json(static_cast<double>(element), std::is_same_v<T, double>);
}

template <class T>
void summarise(const T* elements, int64_t count, DType dtype, ordered_json& out) {
  double sum = 0;
  const T *least = nullptr, *greatest = nullptr;
  int64_t finite = 0, nan = 0;
  for (const T* e = elements; e != elements + count; ++e) {
    const double value = static_cast<double>(*e);
    nan += std::isnan(value);
    if (!std::isfinite(value)) continue;
    ++finite;
    sum += value;
    // Elements of a 64-bit type are compared as what they are; the others lose nothing as doubles.
    if constexpr (std::is_integral_v<T>) {
      if (!least || *e < *least) least = e;
      if (!greatest || *e > *greatest) greatest = e;
    } else {
      if (!least || value < static_cast<double>(*least)) least = e;
      if (!greatest || value > static_cast<double>(*greatest)) greatest = e;
    }
  }
  out["min"] = least ? element_json(*least) : ordered_json(nullptr);
  out["max"] = greatest ? element_json(*greatest) : ordered_json(nullptr);
  out["mean"] = finite ? ordered_json(sum / static_cast<double>(finite)) : ordered_json(nullptr);
  if (is_float(dtype)) {
    out["nan"] = nan;
    out["infinite"] = count - finite - nan;
  }
}

ordered_json describe_tensor(const Tensor& tensor, size_t max_elements) {
  ordered_json out = {{"kind", "tensor"},
                      {"type", Value(tensor).type().to_string()},
                      {"dtype", dtype_name(tensor.dtype())},
                      {"shape", tensor.dims()}};
  if (!tensor.defined()) return out;
  std::vector<int8_t> unpacked;
  const void* data = tensor.data();
  if (is_sub_byte(tensor.dtype())) {
    unpacked.resize(static_cast<size_t>(tensor.size()));
    unpack_sub_byte(tensor.dtype(), data, tensor.size(), unpacked.data());
    data = unpacked.data();
  }
  with_element_type(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* elements = static_cast<const T*>(data);
    if constexpr (std::is_same_v<T, bool>)
      out["true"] = std::count(elements, elements + tensor.size(), true);
    else if constexpr (!std::is_same_v<T, std::string> && !is_complex_element<T>)
      summarise(elements, tensor.size(), tensor.dtype(), out);
    const size_t shown = std::min(max_elements, static_cast<size_t>(tensor.size()));
    ordered_json& list = out["elements"] = ordered_json::array();
    for (size_t i = 0; i < shown; ++i) list.push_back(element_json<T>(elements[i]));
  });
  return out;
}

ordered_json describe(const Value& value, size_t max_elements) {
  if (const Tensor* tensor = value.tensor()) return describe_tensor(*tensor, max_elements);
  ordered_json out = {{"kind", "none"}, {"type", value.type().to_string()}};
  if (const Sequence* sequence = value.sequence()) {
    out["kind"] = "sequence";
    out["count"] = sequence->items.size();
    ordered_json& items = out["items"] = ordered_json::array();
    for (size_t i = 0; i < std::min(max_elements, sequence->items.size()); ++i)
      items.push_back(describe(sequence->items[i], max_elements));
  } else if (const Optional* optional = value.optional()) {
    out["kind"] = "optional";
    out["item"] = optional->item ? describe(*optional->item, max_elements) : ordered_json(nullptr);
  } else if (const Map* map = value.map()) {
    out["kind"] = "map";
    const bool by_text = map->key == DType::String;
    const size_t count = by_text ? map->string_keys.size() : map->int_keys.size();
    out["count"] = count;
    ordered_json& keys = out["keys"] = ordered_json::array();
    for (size_t i = 0; i < std::min(max_elements, count); ++i)
      keys.push_back(by_text ? ordered_json(map->string_keys[i]) : ordered_json(map->int_keys[i]));
    out["values"] = describe_tensor(map->values, max_elements);
  }
  return out;
}

}  // namespace

namespace tenon::api {

Status check_size(const tn_comparison& comparison) {
  constexpr size_t kFirstVersion = offsetof(tn_comparison, allowed_abs);
  if (comparison.size >= kFirstVersion) return {};
  return invalid_argument("comparison->size must be at least {}, but it is {}", kFirstVersion, comparison.size);
}

void fill(const Comparison& c, int64_t ties, tn_comparison& comparison) {
  const tn_comparison whole = {comparison.size,  c.comparable,  c.elements, c.mismatches,
                               c.first_mismatch, c.nan_pairs,   c.max_abs,  c.max_rel,
                               c.cosine,         c.allowed_abs, ties};
  std::memcpy(&comparison, &whole, std::min(comparison.size, sizeof whole));
}

}  // namespace tenon::api

extern "C" {

tn_status* tn_value_describe(const tn_value* value, size_t max_elements, char** text) {
  return api::guarded([&]() -> Status {
    if (!value || !text) return invalid_argument("value and json must not be NULL");
    // Strings need not be UTF-8; what cannot be shown is replaced.
    *text = api::copy_text(
        describe(value->value, max_elements).dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    return {};
  });
}

tn_status* tn_value_compare(const tn_value* actual, const tn_value* expected, double rtol, double atol,
                            tn_comparison* comparison) {
  return api::guarded([&]() -> Status {
    if (!actual || !expected || !comparison) return invalid_argument("the values must not be NULL");
    TN_RETURN_IF_ERROR(api::check_size(*comparison));
    if (std::isnan(rtol) || std::isnan(atol)) return invalid_argument("a tolerance must be a number");
    const Comparison c = compare_values(actual->value, expected->value, {rtol, atol});
    api::fill(c, 0, *comparison);
    return {};
  });
}

}  // extern "C"
