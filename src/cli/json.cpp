#include "cli/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace cli {

using nlohmann::ordered_json;

namespace {

// "line 1, column 5: ..." of "[json.exception.parse_error.101] parse error at line 1, column 5: ...". It cites what was
// read, which may be most of the file.
std::string plain_words(std::string message) {
  if (const size_t end = message.find("] "); message.starts_with('[') && end != std::string::npos)
    message.erase(0, end + 2);
  constexpr std::string_view kPlace = "parse error at ";
  if (message.starts_with(kPlace)) message.erase(0, kPlace.size());
  constexpr size_t kMostText = 300;
  if (message.size() > kMostText) message = message.substr(0, kMostText) + "...";
  return message;
}

// Copies, destruction and printing go down one level of the stack for each. Plans of the deepest models that load need
// a thousand.
constexpr size_t kMostNesting = 2000;

// Builds values from what the parser finds. nlohmann's own ordered objects look every key up in a list.
class JsonBuilder final : public nlohmann::json_sax<ordered_json> {
 public:
  Json result;

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override {
    return add(value <= INT64_MAX ? Json(static_cast<int64_t>(value)) : Json(value));
  }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(ordered_json::binary_t&) override { return false; }
  bool key(std::string& value) override {
    keys_.push_back(std::move(value));
    return true;
  }
  bool start_object(size_t) override { return open(Json::Object{}); }
  bool start_array(size_t) override { return open(Json::Array{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& problem) override {
    throw std::runtime_error(plain_words(problem.what()));
  }

 private:
  bool add(Json value) {
    if (open_.empty()) {
      result = std::move(value);
    } else if (open_.back().is_array()) {
      open_.back().push(std::move(value));
    } else {
      open_.back().set(std::move(keys_.back()), std::move(value));
      keys_.pop_back();
    }
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= kMostNesting)
      throw std::runtime_error(fmt::format("lists and objects are nested more than {} levels deep", kMostNesting));
    open_.push_back(std::move(value));
    return true;
  }
  bool close() {
    Json value = std::move(open_.back());
    open_.pop_back();
    return add(std::move(value));
  }

  std::vector<Json> open_;         // what is not closed yet, outermost first
  std::vector<std::string> keys_;  // that wait for their value
};

}  // namespace

struct JsonConversion {
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
            // Past the look-up for an equal key that operator[] and emplace do: keys are unique already.
            auto& entries = object.get_ref<ordered_json::object_t&>();
            for (const auto& [key, item] : value) entries.Container::emplace_back(key, to(item));
            return object;
          } else {
            return value;
          }
        },
        json.value_);
  }
};

Json Json::parse(const std::string& text) {
  JsonBuilder builder;
  ordered_json::sax_parse(text, &builder);
  return std::move(builder.result);
}

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
