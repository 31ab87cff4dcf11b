#pragma once

#include "onnx/onnx_map.h"
#include "ops/ml_rules.h"

// Reading the weight-carrying attributes of ai.onnx.ml.
namespace tenon {

inline Tensor float_tensor(const std::vector<float>& values, std::vector<int64_t> dims) {
  return Tensor::of<float>(std::move(dims), std::span<const float>(values));
}

// A vector; kNone when the attribute is absent or empty.
inline ValueId float_weight(ImportNode& n, const char* name) {
  const std::vector<float> values = n.floats_attribute(name);
  if (values.empty()) return n.absent_weight(name);
  return n.attribute_weight(name, float_tensor(values, {static_cast<int64_t>(values.size())}));
}

// A matrix of `rows`; an error when the elements do not fill them. rows may be 0 only if there are no elements.
inline ValueId matrix_weight(ImportNode& n, const char* name, size_t rows) {
  const std::vector<float> values = n.floats_attribute(name);
  if (values.empty() || rows == 0 || values.size() % rows != 0) {
    n.fail(invalid_model("{} has {} elements, which cannot be divided evenly into {} rows", name, values.size(), rows));
    return n.constant(float_tensor({}, {0, 0}));
  }
  const auto columns = static_cast<int64_t>(values.size() / rows);
  return n.attribute_weight(name, float_tensor(values, {static_cast<int64_t>(rows), columns}));
}

inline ClassLabels read_labels(ImportNode& n, const char* ints, const char* strings) {
  return {n.ints_attribute(ints), n.strings_attribute(strings)};
}

}  // namespace tenon
