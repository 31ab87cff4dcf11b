#include "plan/property.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace tenon {

namespace {

using Kind = Property::Kind;

// By kind.
constexpr std::array<std::string_view, 8> kNames{"elements",  "pinned",       "literal",  "all zero",
                                                 "all equal", "all positive", "equal to", "in range"};

// " 1.5" at the start of a text, which goes.
std::optional<double> take_number(std::string_view& text) {
  if (text.empty() || text[0] != ' ') return std::nullopt;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// The elements as doubles. Integers beyond 2^53 are rounded: no rule asks about such.
template <class T>
std::vector<double> numbers_of(const T* elements, size_t count) {
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (requires { static_cast<double>(elements[i]); }) numbers[i] = static_cast<double>(elements[i]);
  }
  return numbers;
}

bool is_number(DType dtype) {
  return dtype != DType::Undefined && dtype != DType::String && dtype != DType::Complex64 && dtype != DType::Complex128;
}

std::vector<double> numbers_of(const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.size());
  std::vector<int8_t> unpacked;
  const void* data = tensor.data();
  if (is_sub_byte(tensor.dtype())) {
    unpacked.resize(count);
    unpack_sub_byte(tensor.dtype(), data, tensor.size(), unpacked.data());
    data = unpacked.data();
  }
  return with_element_type(tensor.dtype(), [&](auto tag) {
    return numbers_of(static_cast<const typename decltype(tag)::type*>(data), count);
  });
}

bool has(double x, double first, const Property& property) {
  switch (property.kind) {
    case Kind::AllZero:
      return x == 0;
    case Kind::AllEqual:
      return x == first;
    case Kind::AllPositive:
      return x > 0;
    case Kind::EqualTo:
      return x == property.low;
    case Kind::InRange:
      return x >= property.low && x <= property.high;
    default:
      return false;
  }
}

}  // namespace

std::string property_text(const Property& property) {
  const std::string_view name = kNames[static_cast<size_t>(property.kind)];
  if (property.kind == Kind::EqualTo) return fmt::format("{} {}", name, property.low);
  if (property.kind == Kind::InRange) return fmt::format("{} {} {}", name, property.low, property.high);
  return std::string(name);
}

std::optional<Property> property_from_text(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (!text.starts_with(kNames[i])) continue;
    Property property{static_cast<Kind>(i)};
    std::string_view rest = text.substr(kNames[i].size());
    if (property.kind == Kind::EqualTo || property.kind == Kind::InRange) {
      const auto low = take_number(rest);
      const auto high = property.kind == Kind::InRange ? take_number(rest) : low;
      if (!low || !high) return std::nullopt;
      property.low = *low;
      property.high = *high;
    }
    if (rest.empty()) return property;
  }
  return std::nullopt;
}

std::string answer_text(Answer answer) { return answer == Answer::Unknown ? "" : answer == Answer::Yes ? "yes" : "no"; }

Answer ask(const Tensor& tensor, const Property& property) {
  if (property.is_about_elements() || !is_number(tensor.dtype())) return Answer::Unknown;
  const std::vector<double> numbers = numbers_of(tensor);
  const bool all = std::ranges::all_of(numbers, [&](double x) { return has(x, numbers[0], property); });
  return all ? Answer::Yes : Answer::No;
}

}  // namespace tenon
