#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cli {

// A JSON value that keeps its keys in order. What is missing reads as null, so lookups chain.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(bool value) : value_(value) {}
  Json(int value) : value_(static_cast<int64_t>(value)) {}
  Json(int64_t value) : value_(value) {}
  Json(uint64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  // Throws std::runtime_error on text that is not JSON, or nested deeper than the stack allows.
  static Json parse(const std::string& text);
  // Indented; text that is not UTF-8 is replaced, numbers that are not finite become null.
  std::string dump() const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_integer() const {
    return std::holds_alternative<int64_t>(value_) || std::holds_alternative<uint64_t>(value_);
  }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool boolean() const;
  int64_t integer() const;
  double number() const;
  const std::string& text() const;
  const Array& items() const;
  const Object& entries() const;
  const Json& operator[](std::string_view key) const;

  void set(std::string key, Json value);
  void push(Json value);

  // "0.5", "3", "oak", "true": one element as people read it.
  std::string plain() const;

 private:
  friend struct JsonConversion;
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value_;
};

}  // namespace cli
