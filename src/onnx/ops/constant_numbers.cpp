#include "onnx/ops/constant_numbers.h"

#include <cmath>

namespace tenon {

std::vector<int64_t> constant_integers(ImportNode& node, ValueId value, const char* what) {
  const Tensor* t = node.required_constant(value);
  std::vector<int64_t> result;
  auto read = [&](auto tag) {
    for (auto x : t->as<typename decltype(tag)::type>()) {
      const double number = static_cast<double>(x);
      if (!(std::abs(number) < 9e15))
        node.fail(invalid_model("{} has the entry {}, which is out of range", what, number));
      result.push_back(std::abs(number) < 9e15 ? static_cast<int64_t>(number) : 0);
    }
  };
  switch (t ? t->dtype() : DType::Undefined) {
    case DType::Int64:
      read(TypeTag<int64_t>{});
      break;
    case DType::Int32:
      read(TypeTag<int32_t>{});
      break;
    case DType::Float32:
      read(TypeTag<float>{});
      break;
    case DType::Float64:
      read(TypeTag<double>{});
      break;
    case DType::Float16:
      read(TypeTag<Float16>{});
      break;
    default:
      node.fail(unsupported("{} must be a constant of integers or floats", what));
  }
  return result;
}

ValueId number_constant(ImportNode& node, DType dtype, double value) {
  auto make = [&](auto element) { return node.constant(Tensor::of<decltype(element)>({}, std::span(&element, 1))); };
  switch (dtype) {
    case DType::Float32:
      return make(static_cast<float>(value));
    case DType::Float64:
      return make(value);
    case DType::Float16:
      return make(Float16(value));
    case DType::BFloat16:
      return make(BFloat16(value));
    default:
      node.fail(unsupported("the value {} needs an input of a known float type, but the input is {}", value,
                            dtype_name(dtype)));
      return kNone;
  }
}

}  // namespace tenon
