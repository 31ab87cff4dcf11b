#include "ops/ml_labels.h"

#include <algorithm>

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

template <class T>
Tensor list_tensor(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<int64_t>(values.size())}, std::span<const T>(values));
}
template <class T>
Tensor scalar_tensor(const T& value) {
  return Tensor::of<T>({1}, std::span<const T>(&value, 1));
}

void emit_encoder(ImportNode& n, Tensor keys, Tensor values, Tensor fallback) {
  LabelEncoderParams params{std::move(keys), std::move(values), std::move(fallback)};
  n.finish(n.emit(OpId::LabelEncoder, Params::of(std::move(params)), {n.input(0)}));
}

// Strings to their integers, or the other way, as the input's type tells.
void emit_both_ways(ImportNode& n, std::vector<std::string> strings, std::vector<int64_t> ints) {
  const std::string default_string = n.string_attribute("default_string", "_Unused");
  const int64_t default_int = n.int_attribute("default_int64", -1);
  // The last of equal keys counts here; the encoder takes the first.
  std::reverse(strings.begin(), strings.end());
  std::reverse(ints.begin(), ints.end());
  switch (n.type(n.input(0)).dtype) {
    case DType::String:
      return emit_encoder(n, list_tensor(strings), list_tensor(ints), scalar_tensor(default_int));
    case DType::Int64:
      return emit_encoder(n, list_tensor(ints), list_tensor(strings), scalar_tensor(default_string));
    case DType::Undefined:
      return n.fail(unsupported("the direction of the mapping needs an input of known type"));
    default:
      return n.fail(invalid_model("X is {}; it must be string or int64", dtype_name(n.type(n.input(0)).dtype)));
  }
}

void import_category_mapper(ImportNode& n) {
  std::vector<std::string> strings = n.strings_attribute("cats_strings");
  std::vector<int64_t> ints = n.ints_attribute("cats_int64s");
  if (strings.size() != ints.size())
    return n.fail(invalid_model("cats_strings has {} elements, cats_int64s has {}", strings.size(), ints.size()));
  emit_both_ways(n, std::move(strings), std::move(ints));
}

// Keys or values: whichever of the typed attributes is given.
Tensor typed_list(ImportNode& n, const std::string& prefix) {
  std::vector<Tensor> given;
  if (n.has_attribute(prefix + "_strings")) given.push_back(list_tensor(n.strings_attribute(prefix + "_strings")));
  if (n.has_attribute(prefix + "_int64s")) given.push_back(list_tensor(n.ints_attribute(prefix + "_int64s")));
  if (n.has_attribute(prefix + "_floats")) given.push_back(list_tensor(n.floats_attribute(prefix + "_floats")));
  if (n.has_attribute(prefix + "_tensor")) given.push_back(n.tensor_attribute(prefix + "_tensor"));
  // Some writers list all of them and leave the others empty.
  if (given.size() > 1) std::erase_if(given, [](const Tensor& t) { return t.size() == 0; });
  if (given.size() == 1) return given[0];
  n.fail(invalid_model("exactly one of the {}_* attributes must be given, there are {}", prefix, given.size()));
  return {};
}

Tensor default_value(ImportNode& n, DType dtype) {
  const std::string string = n.string_attribute("default_string", "_Unused");
  const int64_t integer = n.int_attribute("default_int64", -1);
  const float real = n.float_attribute("default_float", -0.0f);
  if (const Tensor given = n.tensor_attribute("default_tensor"); given.defined()) return given;
  switch (dtype) {
    case DType::String:
      return scalar_tensor(string);
    case DType::Int64:
      return scalar_tensor(integer);
    case DType::Int32:
      return scalar_tensor<int32_t>(-1);
    case DType::Int16:
      return scalar_tensor<int16_t>(-1);
    case DType::Float64:
      return scalar_tensor<double>(-0.0);
    default:
      return scalar_tensor(real);
  }
}

// Version 1 maps strings to their positions and back; later ones have lists of keys and values.
void import_label_encoder(ImportNode& n) {
  if (n.version() < 2) {
    std::vector<std::string> classes = n.strings_attribute("classes_strings");
    std::vector<int64_t> positions;
    for (size_t i = 0; i < classes.size(); ++i) positions.push_back(static_cast<int64_t>(i));
    return emit_both_ways(n, std::move(classes), std::move(positions));
  }
  const Tensor keys = typed_list(n, "keys"), values = typed_list(n, "values");
  emit_encoder(n, keys, values, default_value(n, values.dtype()));
}

}  // namespace

template <>
void onnx_mapping<OpId::LabelEncoder>(OnnxMap& map) {
  map.custom(kMlDomain, "LabelEncoder", OpId::LabelEncoder, import_label_encoder);
  map.custom(kMlDomain, "CategoryMapper", OpId::LabelEncoder, import_category_mapper);
}

template <>
void onnx_mapping<OpId::OneHotEncoder>(OnnxMap& map) {
  map.same(kMlDomain, "OneHotEncoder", OpId::OneHotEncoder);
}

}  // namespace tenon
