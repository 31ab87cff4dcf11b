#include "ir/literal_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/checked_math.h"

namespace tenon {

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result.append("\\").push_back(c);
    else if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + "\"";
}

namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

Result<std::string> bytes_of_hex(std::string_view text) {
  std::string bytes;
  if (text.size() % 2 != 0) return invalid_argument("'{}' is not a list of bytes", text);
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const auto high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (!high || !low) return invalid_argument("'{}' is not a list of bytes", text);
    bytes += static_cast<char>(*high * 16 + *low);
  }
  return bytes;
}

template <class T>
Result<T> parse_number(std::string_view text) {
  text = trimmed(text);
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return invalid_argument("'{}' is not a number", text);
  return value;
}

// The types whose elements are written as numbers.
template <class F>
bool with_number_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float32:
      return f(TypeTag<float>{}), true;
    case DType::Float64:
      return f(TypeTag<double>{}), true;
    case DType::Int64:
      return f(TypeTag<int64_t>{}), true;
    case DType::Int32:
      return f(TypeTag<int32_t>{}), true;
    case DType::Int16:
      return f(TypeTag<int16_t>{}), true;
    case DType::Int8:
      return f(TypeTag<int8_t>{}), true;
    case DType::UInt8:
      return f(TypeTag<uint8_t>{}), true;
    case DType::UInt64:
      return f(TypeTag<uint64_t>{}), true;
    case DType::UInt32:
      return f(TypeTag<uint32_t>{}), true;
    default:
      return false;
  }
}

}  // namespace

Result<std::string> unquoted(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"')
    return invalid_argument("{} is not a quoted text", text);
  text = text.substr(1, text.size() - 2);
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
    } else if (i + 3 < text.size() && text[i + 1] == 'x') {
      TN_ASSIGN_OR_RETURN(const std::string byte, bytes_of_hex(text.substr(i + 2, 2)));
      result += byte;
      i += 3;
    } else if (i + 1 < text.size()) {
      result += text[++i];
    } else {
      return invalid_argument("a quoted text ends with a backslash");
    }
  }
  return result;
}

Result<std::vector<std::string_view>> list_items(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return invalid_argument("'{}' is not a list", text);
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> items;
  size_t begin = 0;
  int depth = 0;
  bool in_quotes = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_quotes) {
      if (c == '\\') ++i;
      in_quotes = c != '"';
    } else if (c == '"') {
      in_quotes = true;
    } else if (c == '[' || c == '(' || c == '{') {
      ++depth;
    } else if (c == ']' || c == ')' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      items.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  const std::string_view last = trimmed(text.substr(std::min(begin, text.size())));
  if (!items.empty() || !last.empty()) items.push_back(last);
  return items;
}

std::string literal_text(const Tensor& tensor) {
  std::string text;
  const auto add = [&](const std::string& item) { text.append(text.empty() ? "" : ", ").append(item); };
  if (tensor.dtype() == DType::String) {
    for (const std::string& s : tensor.as<std::string>()) add(quoted(s));
    return "[" + text + "]";
  }
  if (tensor.dtype() == DType::Bool) {
    for (const bool b : tensor.as<bool>()) add(b ? "1" : "0");
    return "[" + text + "]";
  }
  const bool is_number = with_number_type(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const T x : tensor.as<T>()) {
      if constexpr (sizeof(T) == 1)
        add(std::to_string(static_cast<int>(x)));
      else
        add(fmt::format("{}", x));
    }
  });
  if (is_number) return "[" + text + "]";
  std::string hex(1, 'x');
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  for (int64_t i = 0; i < tensor.bytes(); ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

namespace {

template <class T>
Status read_numbers(const std::vector<std::string_view>& items, Tensor& tensor) {
  auto elements = tensor.as_mutable<T>();
  for (size_t i = 0; i < items.size(); ++i) {
    if constexpr (sizeof(T) == 1) {
      TN_ASSIGN_OR_RETURN(const int number, parse_number<int>(items[i]));
      elements[i] = static_cast<T>(number);
    } else {
      TN_ASSIGN_OR_RETURN(elements[i], parse_number<T>(items[i]));
    }
  }
  return {};
}

}  // namespace

Result<Tensor> parse_literal(DType dtype, const std::vector<int64_t>& dims, std::string_view text) {
  text = trimmed(text);
  const auto count = checked_product(dims);
  if (!count || *count > (int64_t{1} << 20)) return invalid_argument("a constant is too large to be written out");
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, dims, nullptr));
  if (!text.empty() && text.front() == 'x') {
    TN_ASSIGN_OR_RETURN(const std::string bytes, bytes_of_hex(text.substr(1)));
    if (dtype == DType::String || static_cast<int64_t>(bytes.size()) != tensor.bytes())
      return invalid_argument("{} bytes do not match the constant", bytes.size());
    if (!bytes.empty()) std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
    return tensor;
  }
  TN_ASSIGN_OR_RETURN(const auto items, list_items(text));
  if (static_cast<int64_t>(items.size()) != *count)
    return invalid_argument("a constant of {} elements has {} values", *count, items.size());
  if (dtype == DType::String) {
    for (size_t i = 0; i < items.size(); ++i) {
      TN_ASSIGN_OR_RETURN(tensor.as_mutable<std::string>()[i], unquoted(items[i]));
    }
    return tensor;
  }
  if (dtype == DType::Bool) {
    for (size_t i = 0; i < items.size(); ++i) tensor.as_mutable<bool>()[i] = items[i] != "0";
    return tensor;
  }
  Status status;
  const bool is_number = with_number_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    status = read_numbers<T>(items, tensor);
  });
  if (!is_number) return invalid_argument("constants of type {} are written as bytes", dtype_name(dtype));
  TN_RETURN_IF_ERROR(std::move(status));
  return tensor;
}

}  // namespace tenon
