#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tenon {

// The names of a closed set of choices, in the order of their numbers. Specialised beside the enum as
// `static constexpr const char* names[]`. Plans hold the numbers, so choices keep theirs for good; new ones come last.
template <class E>
struct Choices;

template <class E>
concept Choice = requires { Choices<E>::names; };

template <Choice E>
const char* choice_name(E choice) {
  return Choices<E>::names[static_cast<size_t>(choice)];
}

// Walks the fields of an op's parameters. One walk serves serialising, reading, hashing, printing and the mapping
// from and to ONNX attributes: a field's name is its ONNX attribute name.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  virtual void field(const char* name, int64_t& value) = 0;
  virtual void field(const char* name, float& value) = 0;
  virtual void field(const char* name, std::string& value) = 0;
  virtual void field(const char* name, std::vector<int64_t>& value) = 0;
  virtual void field(const char* name, std::vector<float>& value) = 0;
  virtual void field(const char* name, std::vector<std::string>& value) = 0;
  virtual void field(const char* name, Tensor& value) = 0;  // a small constant; undefined when absent

  void field(const char* name, bool& value) {
    int64_t number = value;
    field(name, number);
    value = number != 0;
  }
  void field(const char* name, DType& value) {
    int64_t code = static_cast<int64_t>(value);
    field(name, code);
    value = dtype_from_onnx(code).value_or(DType::Undefined);
  }
  template <Choice E>
  void field(const char* name, E& value) {
    auto number = static_cast<size_t>(value);
    choice(name, number, Choices<E>::names);
    value = static_cast<E>(number);
  }
  template <class T>
  void field(const char* name, std::optional<T>& value) {
    bool present = value.has_value();
    optional_field(name, present);
    if (!present) {
      value.reset();
      return;
    }
    if (!value) value.emplace();
    field(name, *value);
  }

 protected:
  // Tells (when writing) or asks (when reading) whether the field that follows is there.
  virtual void optional_field(const char* name, bool& present) = 0;
  // As text, unless a visitor has a better way.
  virtual void choice(const char* name, size_t& number, std::span<const char* const> names) {
    std::string text = names[number];
    field(name, text);
    const auto it = std::ranges::find(names, text);
    if (it == names.end()) return unknown_choice(name, text);
    number = static_cast<size_t>(it - names.begin());
  }
  // A visitor that reads met a name that is none of the choices.
  virtual void unknown_choice(const char* /*name*/, const std::string& /*text*/) {}
};

}  // namespace tenon
