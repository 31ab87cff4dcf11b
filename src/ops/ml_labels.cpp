#include "ops/ml_labels.h"

#include "ops/ml_rules.h"

namespace tenon {

namespace {

Status infer_label_encoder(InferContext& c) {
  constexpr TypeSet allowed = kMlNumbers | TypeSet{DType::Int16, DType::String};
  TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
  const auto& p = c.params<LabelEncoderParams>();
  const DType key = p.keys_tensor.dtype(), value = p.values_tensor.dtype();
  if (!allowed.has(key) || !allowed.has(value))
    return invalid_model("keys are {} and values are {}; the allowed types are {}", dtype_name(key), dtype_name(value),
                         allowed.to_string());
  if (p.keys_tensor.size() != p.values_tensor.size())
    return invalid_model("there are {} keys but {} values", p.keys_tensor.size(), p.values_tensor.size());
  if (p.default_tensor.dtype() != value || p.default_tensor.size() != 1)
    return invalid_model("the default must be one {}, but it is {} of {}", dtype_name(value), p.default_tensor.size(),
                         dtype_name(p.default_tensor.dtype()));
  if (c.dtype(0) != DType::Undefined && c.dtype(0) != key)
    return invalid_model("X is {}, but the keys are {}", dtype_name(c.dtype(0)), dtype_name(key));
  c.out(0, value, c.in(0).shape);
  return {};
}

Status infer_one_hot_encoder(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kMlNumbers | kStrings));
  const auto& p = c.params<OneHotEncoderParams>();
  if (p.cats_int64s.empty() == p.cats_strings.empty())
    return invalid_model("exactly one of cats_int64s and cats_strings must be given and must not be empty");
  if (c.dtype(0) != DType::Undefined && (c.dtype(0) == DType::String) == p.cats_strings.empty())
    return invalid_model("X is {}, but the categories are {}", dtype_name(c.dtype(0)),
                         p.cats_strings.empty() ? "integers" : "strings");
  std::optional<Shape> shape = c.in(0).shape;
  if (shape) shape->push_back(Dim(static_cast<int64_t>(p.cats_int64s.size() + p.cats_strings.size())));
  c.out(0, DType::Float32, std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::LabelEncoder>() {
  return define<LabelEncoderParams>(
      {.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_label_encoder, .can_fail = true});
}

template <>
OpDef op_definition<OpId::OneHotEncoder>() {
  return define<OneHotEncoderParams>(
      {.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_one_hot_encoder, .can_fail = true});
}

}  // namespace tenon
