// Tensors from JSON text.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/checked_math.h"
#include "runtime/api/handles.h"

using namespace tenon;
using nlohmann::json;

namespace {

constexpr size_t kMaxRank = 64;

// The shape of nested lists, which must be even; their elements in order go to `elements`.
Status flatten(const json& list, size_t depth, std::vector<int64_t>& dims, std::vector<const json*>& elements) {
  if (!list.is_array()) {
    if (depth != dims.size()) return invalid_argument("the nested lists have different depths");
    if (list.is_object() || list.is_null())
      return invalid_argument("an element is not a number, a text, true or false");
    elements.push_back(&list);
    return {};
  }
  if (depth >= kMaxRank) return invalid_argument("the lists are nested more than {} levels deep", kMaxRank);
  const auto length = static_cast<int64_t>(list.size());
  if (depth == dims.size()) {
    if (!elements.empty()) return invalid_argument("the nested lists have different depths");
    dims.push_back(length);
  } else if (dims[depth] != length) {
    return invalid_argument("the nested lists have different lengths: {} and {}", dims[depth], length);
  }
  for (const json& item : list) TN_RETURN_IF_ERROR(flatten(item, depth + 1, dims, elements));
  return {};
}

Result<double> real_number(const json& element) {
  if (element.is_number()) return element.get<double>();
  if (element.is_boolean()) return element.get<bool>() ? 1.0 : 0.0;
  const std::string text = element.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return invalid_argument("'{}' is not a number", text);
}

template <class T>
Result<T> whole_number(const json& element, T low, T high) {
  if (element.is_number_unsigned()) {
    const auto value = element.get<uint64_t>();
    if (value <= static_cast<uint64_t>(high)) return static_cast<T>(value);
  } else if (element.is_number_integer()) {
    const auto value = element.get<int64_t>();
    if (value >= 0 ? static_cast<uint64_t>(value) <= static_cast<uint64_t>(high)
                   : std::is_signed_v<T> && value >= static_cast<int64_t>(low))
      return static_cast<T>(value);
  } else if (element.is_number_float()) {
    const double value = element.get<double>();
    if (value == std::floor(value) && std::fabs(value) <= 0x1p53 && value >= static_cast<double>(low) &&
        value <= static_cast<double>(high))
      return static_cast<T>(value);
  }
  return invalid_argument("{} is not an integer from {} to {}", element.dump(), low, high);
}

// One element of a tensor, sub-byte types as the byte that pack_sub_byte takes.
template <class T>
Status set_element(const json& element, T& target) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!element.is_string()) return invalid_argument("{} is not text", element.dump());
    target = element.get<std::string>();
  } else if constexpr (std::is_same_v<T, bool>) {
    const bool is_digit = element.is_number_integer() && (element == 0 || element == 1);
    if (!element.is_boolean() && !is_digit) return invalid_argument("{} is neither true nor false", element.dump());
    target = element.is_boolean() ? element.get<bool>() : element == 1;
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    TN_ASSIGN_OR_RETURN(const double real, real_number(element));
    target = T(static_cast<typename T::value_type>(real));
  } else if constexpr (std::is_integral_v<T>) {
    TN_ASSIGN_OR_RETURN(target, whole_number<T>(element, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else {
    TN_ASSIGN_OR_RETURN(const double real, real_number(element));
    target = static_cast<T>(real);
  }
  return {};
}

Status fill_sub_byte(const std::vector<const json*>& elements, Tensor& tensor) {
  const DType dtype = tensor.dtype();
  std::vector<int8_t> bytes(static_cast<size_t>(tensor.size()));
  const int bits = dtype_bits(dtype);
  const int8_t low = is_signed_integer(dtype) ? static_cast<int8_t>(-(1 << (bits - 1))) : int8_t{0};
  const auto high = static_cast<int8_t>(low + (1 << bits) - 1);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const json& element = *elements[elements.size() == 1 ? 0 : i];
    if (is_float(dtype)) {
      TN_ASSIGN_OR_RETURN(const double real, real_number(element));
      bytes[i] = static_cast<int8_t>(sub_byte_float_bits(dtype, real));
    } else {
      TN_ASSIGN_OR_RETURN(bytes[i], whole_number<int8_t>(element, low, high));
    }
  }
  pack_sub_byte(dtype, bytes.data(), tensor.size(), tensor.mutable_data());
  return {};
}

Status fill(const std::vector<const json*>& elements, Tensor& tensor) {
  if (is_sub_byte(tensor.dtype())) return fill_sub_byte(elements, tensor);
  return with_element_type(tensor.dtype(), [&](auto tag) -> Status {
    using T = typename decltype(tag)::type;
    const auto target = tensor.as_mutable<T>();
    if (elements.size() == 1 && !target.empty()) {
      TN_RETURN_IF_ERROR(set_element(*elements[0], target[0]));
      std::fill(target.begin() + 1, target.end(), target[0]);
      return {};
    }
    for (size_t i = 0; i < target.size(); ++i) TN_RETURN_IF_ERROR(set_element(*elements[i], target[i]));
    return {};
  });
}

}  // namespace

extern "C" {

tn_status* tn_tensor_from_json(tn_dtype dtype, const int64_t* dims, size_t rank, const char* text, tn_value** value) {
  return api::guarded([&]() -> Status {
    if (!text || !value) return invalid_argument("json and value must not be NULL");
    const auto type = dtype_from_onnx(dtype);
    if (!type) return invalid_argument("{} is not a valid element type", static_cast<int>(dtype));
    const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_discarded()) return invalid_argument("'{}' is neither an element nor a list of elements", text);
    std::vector<int64_t> shape;
    std::vector<const json*> elements;
    TN_RETURN_IF_ERROR(flatten(parsed, 0, shape, elements));
    const bool is_one = !parsed.is_array();
    if (dims) shape.assign(dims, dims + rank);
    const auto count = checked_product(shape);
    if (!count || !storage_bytes(*type, *count)) return invalid_argument("the shape is negative or too large");
    if (!is_one && static_cast<size_t>(*count) != elements.size())
      return invalid_argument("the shape {} needs {} elements, but {} are given", shape_text(to_shape(shape)), *count,
                              elements.size());
    // A few characters can ask for any shape.
    const auto budget = std::make_shared<MemoryBudget>(default_memory_limit());
    TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(*type, shape, budget));
    TN_RETURN_IF_ERROR(fill(elements, tensor));
    *value = new tn_value{std::move(tensor)};
    return {};
  });
}

}  // extern "C"
