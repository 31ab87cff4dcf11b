#include "build/json.h"

#include <fmt/format.h>

namespace tenon::build {

const Json& member(const Json& object, std::string_view key) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto it = object.find(key);
  return it == object.end() ? nothing : *it;
}

std::string text_in(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int64_t integer_in(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_number() ? value.get<int64_t>() : 0;
}

double number_in(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

bool flag_in(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_boolean() && value.get<bool>();
}

const Json& list_in(const Json& object, std::string_view key) {
  static const Json nothing = Json::array();
  const Json& value = member(object, key);
  return value.is_array() ? value : nothing;
}

std::string plain_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (value.is_number_unsigned()) return fmt::to_string(value.get<uint64_t>());
  if (value.is_number()) return fmt::to_string(value.get<int64_t>());
  std::string list;
  for (const Json& item : value) list += (list.empty() ? "" : ", ") + plain_text(item);
  return "[" + list + "]";
}

std::string joined_text(const Json& list, const char* separator, size_t most) {
  std::string text;
  for (size_t i = 0; i < list.size() && i < most; ++i) text += (i ? separator : "") + plain_text(list[i]);
  return list.size() > most ? text + " and " + std::to_string(list.size() - most) + " more" : text;
}

std::string dump(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace); }

}  // namespace tenon::build
