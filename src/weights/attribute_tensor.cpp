#include "weights/attribute_tensor.h"

namespace tenon {

namespace {

Tensor string_tensor(std::vector<int64_t> dims, const std::vector<wire::Bytes>& strings) {
  const std::vector<std::string> values(strings.begin(), strings.end());
  return Tensor::of<std::string>(std::move(dims), values);
}

}  // namespace

Tensor attribute_tensor(const wire::Attribute& a) {
  const auto length = [](const auto& list) { return std::vector<int64_t>{static_cast<int64_t>(list.size())}; };
  switch (a.type) {
    case wire::AttributeType::Float:
      return Tensor::of<float>({}, std::span(&a.f, 1));
    case wire::AttributeType::Floats:
      return Tensor::of<float>(length(a.floats), a.floats);
    case wire::AttributeType::Int:
      return Tensor::scalar(a.i);
    case wire::AttributeType::Ints:
      return Tensor::of_ints(a.ints);
    case wire::AttributeType::String:
      return string_tensor({}, {a.s});
    case wire::AttributeType::Strings:
      return string_tensor(length(a.strings), a.strings);
    default:
      return {};
  }
}

}  // namespace tenon
