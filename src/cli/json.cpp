#include "cli/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace cli {

using nlohmann::ordered_json;

struct JsonConversion {
  static Json from(const ordered_json& j) {
    switch (j.type()) {
      case ordered_json::value_t::boolean:
        return j.get<bool>();
      case ordered_json::value_t::number_integer:
        return j.get<int64_t>();
      case ordered_json::value_t::number_unsigned: {
        const auto value = j.get<uint64_t>();
        return value <= INT64_MAX ? Json(static_cast<int64_t>(value)) : Json(value);
      }
      case ordered_json::value_t::number_float:
        return j.get<double>();
      case ordered_json::value_t::string:
        return j.get<std::string>();
      case ordered_json::value_t::array: {
        Json::Array items;
        for (const ordered_json& item : j) items.push_back(from(item));
        return items;
      }
      case ordered_json::value_t::object: {
        Json::Object entries;
        for (const auto& [key, value] : j.items()) entries.emplace_back(key, from(value));
        return entries;
      }
      default:
        return {};
    }
  }

  static ordered_json to(const Json& json) {
    return std::visit(
        [](const auto& value) -> ordered_json {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            return nullptr;
          } else if constexpr (std::is_same_v<T, Json::Array>) {
            ordered_json array = ordered_json::array();
            for (const Json& item : value) array.push_back(to(item));
            return array;
          } else if constexpr (std::is_same_v<T, Json::Object>) {
            ordered_json object = ordered_json::object();
            for (const auto& [key, item] : value) object[key] = to(item);
            return object;
          } else {
            return value;
          }
        },
        json.value_);
  }
};

Json Json::parse(const std::string& text) { return JsonConversion::from(ordered_json::parse(text)); }

std::string Json::dump() const {
  return JsonConversion::to(*this).dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

bool Json::boolean() const {
  const bool* value = std::get_if<bool>(&value_);
  return value && *value;
}

int64_t Json::integer() const {
  if (const auto* value = std::get_if<int64_t>(&value_)) return *value;
  return static_cast<int64_t>(number());
}

double Json::number() const {
  if (const auto* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<uint64_t>(&value_)) return static_cast<double>(*value);
  const auto* value = std::get_if<double>(&value_);
  return value ? *value : 0;
}

const std::string& Json::text() const {
  static const std::string none;
  const auto* value = std::get_if<std::string>(&value_);
  return value ? *value : none;
}

const Json::Array& Json::items() const {
  static const Array none;
  const auto* value = std::get_if<Array>(&value_);
  return value ? *value : none;
}

const Json::Object& Json::entries() const {
  static const Object none;
  const auto* value = std::get_if<Object>(&value_);
  return value ? *value : none;
}

const Json& Json::operator[](std::string_view key) const {
  static const Json null;
  for (const auto& [name, value] : entries())
    if (name == key) return value;
  return null;
}

void Json::set(std::string key, Json value) {
  if (is_null()) value_ = Object{};
  std::get<Object>(value_).emplace_back(std::move(key), std::move(value));
}

void Json::push(Json value) {
  if (is_null()) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
}

std::string Json::plain() const {
  if (const auto* value = std::get_if<int64_t>(&value_)) return fmt::to_string(*value);
  if (const auto* value = std::get_if<uint64_t>(&value_)) return fmt::to_string(*value);
  if (const auto* value = std::get_if<double>(&value_)) return fmt::format("{:.6g}", *value);
  if (const auto* value = std::get_if<bool>(&value_)) return *value ? "true" : "false";
  if (is_text()) return text();
  if (is_null()) return "-";
  std::string list;
  for (const Json& item : items()) list += (list.empty() ? "" : ", ") + item.plain();
  return "[" + list + "]";
}

}  // namespace cli
