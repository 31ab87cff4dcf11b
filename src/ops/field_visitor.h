#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tenon {

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
};

}  // namespace tenon
